# Nobody takes a deletion over from a controller that died.
# catch: INV-23 pool -DLIVE -DPROP=99 -DW=1 -DH=1
s/^retiring  absent_confirmed if /&token_matches,/
s/^retiring  expire .*/refuse retiring no expire/
