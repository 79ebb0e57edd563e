# A full line serves nobody.
# catch: INV-26 line -DPROP=26
s/^\(waiting serve *if first_in_line\)/\1,queue_has_room/
