# A worker whose reset failed becomes warm.
# catch: INV-7 pool -DPROP=7 -DW=1 -DH=2
s/^\(resetting reset_failed .*\)retiring do start_delete/\1warm do wake_waiters/
