# A create does not ask how many are in flight.
# catch: INV-3 pool -DPROP=3 -DW=2 -DH=1 -DCREATES=1
s/,under_create_bound//
