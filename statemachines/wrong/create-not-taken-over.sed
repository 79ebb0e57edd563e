# A create whose controller died is not taken over.
# catch: INV-24 pool -DLIVE -DPROP=24 -DW=1 -DH=1
s/^creating  expire .*/refuse creating no expire/
