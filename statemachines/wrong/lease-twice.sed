# A leased worker may be leased once more.
# catch: INV-1 pool -DPROP=1 -DW=1 -DH=2
s/^refuse leased    later assign image_changed/refuse leased later image_changed\
leased assign leased do start_lease/
