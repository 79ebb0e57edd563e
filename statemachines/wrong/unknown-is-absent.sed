# A create whose outcome is unknown is dropped.
# catch: INV-9 pool -DPROP=9 -DW=1 -DH=1
s/^\(creating  create_unknown .*\)retiring do start_delete/\1absent do free_capacity/
