# Gates.  "make check" is everything a commit needs that is quick; scripts/check runs all there is.
GATES := check-generated check-layers check-decision check-headers check-size check-docs check-reasons check-shell check-python check-lua check-format

check: all $(GATES) test

# Regenerate beside the tree and compare.
check-generated: $(KZGEN)
	$(Q)MAKE='$(MAKE)' scripts/check-generated

# Includes follow lib/layers.txt, and so do the symbols of what was built.
check-layers: all
	$(Q)scripts/check-layers $(B)

# One egress decision and one table of addresses, in sources, objects and programs.
check-decision: all
	$(Q)scripts/check-decision $(B)

# Each header compiles alone, and twice.
check-headers:
	$(Q)CC='$(CC)' scripts/check-headers $(KZ_CFLAGS)

check-size:
	$(Q)scripts/check-size

check-docs: all
	$(Q)scripts/check-docs $(B)

check-reasons:
	$(Q)scripts/check-reasons

check-shell:
	$(Q)scripts/check-shell

check-python: $(B)/shim/kernel.py
	$(Q)scripts/check-python $<

check-format:
	$(Q)scripts/check-format
# Write what check-format asks for.
format:
	$(Q)scripts/check-format --write

check-models models:
	$(Q)statemachines/model/run $(B)

test: all unit
	$(Q)scripts/check --only unit,tool --build $(B)

# The same C tests under the sanitizers, leaks included.
test-san:
	$(Q)scripts/check --only san

bench: all
	$(Q)scripts/bench

.PHONY: check $(GATES) check-models models format test test-san bench
