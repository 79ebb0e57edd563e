# A holder past its deadline may still release into a reset.
# catch: LEASE-9 pool -DPROP=20 -DW=1 -DH=1
s/^\(leased .* release .*\),in_force/\1/
