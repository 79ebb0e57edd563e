# Whoever asks first is served.
# catch: INV-12 line -DPROP=12
s/^\(waiting serve\) *if first_in_line/\1/
