# The filter is part of the driver (.incbin), which the compiler's dependencies do not show.
$(B)/lib/core/driver/seccomp.o: policy/seccomp/worker.json
$(B)/lib/core/run/shim_proxy.o: lib/shim/node-proxy.cjs
$(B)/lib/core/run/shim_kernel.o: lib/shim/kernel.py lib/shim/kernel.mjs
$(B)/lib/core/run/shim_install.o: lib/shim/install.py lib/shim/install.cjs
