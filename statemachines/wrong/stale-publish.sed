# A reset is published by whoever has evidence, of whatever lease.
# catch: INV-6 pool -DPROP=6 -DW=1 -DH=2
s/^\(resetting publish .*\)token_matches,/\1/
