# A reset is published without evidence.
# catch: INV-6 pool -DPROP=6 -DW=1 -DH=2
s/,evidence_ok//
