# Generated tables: "make gen" writes them anew (checked in); "make gen GEN_OUT=DIR" writes below DIR.
HOSTCC ?= cc
GEN_OUT ?= .
KZGEN := $(B)/kzgen
KZGEN_SRC := statemachines/kzgen.c $(wildcard statemachines/kzgen/*.c)

$(KZGEN): $(KZGEN_SRC) $(wildcard statemachines/kzgen/*.h)
	@mkdir -p $(@D)
	$(Q)$(HOSTCC) -std=c11 -D_GNU_SOURCE $(WARN) -O1 -g -o $@ $(KZGEN_SRC)

gen: $(KZGEN)
	$(Q)$(KZGEN) -o $(GEN_OUT) settings policy/settings.tbl
	$(Q)$(KZGEN) -o $(GEN_OUT) reasons policy/reasons.tbl
	$(Q)$(KZGEN) -o $(GEN_OUT) addresses policy/addresses.tbl
	$(Q)$(KZGEN) -o $(GEN_OUT) imports policy/imports.tbl
	$(Q)$(KZGEN) -o $(GEN_OUT) bundled policy/bundled_python.tbl
	$(Q)$(KZGEN) -o $(GEN_OUT) machines statemachines/guards.tbl $(sort $(wildcard statemachines/*.sm))
	$(Q)$(if $(filter .,$(GEN_OUT)),scripts/include-tables)

.PHONY: gen
