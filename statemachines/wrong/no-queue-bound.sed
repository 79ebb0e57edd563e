# A ticket does not ask how many wait.
# catch: INV-5 line -DPROP=5
s/,queue_has_room//
