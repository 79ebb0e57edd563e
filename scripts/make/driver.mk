# The filter is part of the driver (.incbin), which the compiler's dependencies do not show.
$(B)/lib/core/driver/seccomp.o: policy/seccomp/worker.json
$(B)/lib/core/run/shim_proxy.o: lib/shim/node-proxy.cjs
$(B)/lib/core/run/shim_kernel.o: $(B)/shim/kernel.py $(B)/shim/kernel.mjs
$(B)/lib/core/run/shim_install.o: lib/shim/install.py lib/shim/install.cjs

# A cell gets one text, which is read in parts.
KERNEL_py := base sources state pickles read restore define kernel purity save store tools cell main
KERNEL_mjs := base exact state tools cell
define KERNEL_RULE
$(B)/shim/kernel.$1: $(KERNEL_$1:%=lib/shim/kernel/%.$1) scripts/make/driver.mk
	@mkdir -p $$(@D)
	$(Q)for part in $(KERNEL_$1:%=lib/shim/kernel/%.$1); do cat $$$$part && printf '\n\n'; done >$$@.new && mv $$@.new $$@
endef
$(foreach k,py mjs,$(eval $(call KERNEL_RULE,$k)))
