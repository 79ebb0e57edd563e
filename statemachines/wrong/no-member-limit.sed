# Neither the worker nor the lease asks for the member's limit.
# catch: INV-4 pool -DPROP=4 -DW=2 -DH=2 -DCALM -DLIMIT=1
s/,member_below_limit//
