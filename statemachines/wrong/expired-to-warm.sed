# The worker of an expired lease is handed on.
# catch: INV-8 pool -DPROP=8 -DW=1 -DH=2
s/^\(leased .* expire .*\)retiring do start_delete/\1warm do wake_waiters/
