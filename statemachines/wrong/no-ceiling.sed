# A create does not ask for the ceiling.
# catch: INV-2 pool -DPROP=2 -DW=2 -DH=1 -DCEIL=1
s/^\(absent .* create .*\)under_ceiling,/\1/
