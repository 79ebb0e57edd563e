# Capacity falls at any answer that says absent.
# catch: INV-9 pool -DPROP=9 -DW=1 -DH=1
s/^\(retiring  absent_confirmed\) if absent_proved/\1/
