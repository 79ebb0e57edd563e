# The wait of a dead waiter does not end.
# catch: INV-22 line -DLIVE -DPROP=99
s/^\(waiting time_out if \)wait_over/\1in_force,wait_over/
