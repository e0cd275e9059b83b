# Coverage of 95 % intervals, a row a method, a mark for each population of targets.
# Reads data_file: targets, row, method, coverage, lower, upper, ok, estimates; the axis begins at y_low, where
# what lies below it is marked: shares by a full diamond, limits by a hollow one.
load plots . '/style.gp'
set datafile separator ','
populations = 'random patterns trained'
marks = '7 5 9'
colours = '3 4 2'  # of the palette
array names[3] = ['random RBMs', 'RBMs of Bars and Stripes', 'RBMs of MNIST']
from(p) = word(populations, p)
# A population without a single share to draw has no entry in the legend.
array drawn[3] = [0, 0, 0]
tally(p) = (drawn[p] = drawn[p] + 1)
do for [p = 1:3] {
  stats data_file using (strcol(1) eq from(p) && strcol(4) ne '' && strcol(4) ne 'nan' ? tally(p) : 0) every ::1 nooutput
}
stats data_file using 2 every ::1 name 'row' nooutput
set margins 13, 23, 3.6, 5
set xrange [y_low:1.005]
set yrange [row_max + 0.7:-0.7]
set xlabel 'share of intervals that hold the true log Z'
set xtics y_low, 0.05
unset ytics
set grid xtics lw 0.5 lc rgb '#e4e4e4' dt solid
set key at graph -0.2, 1.125 left top horizontal width 1 maxrows 1 font ',12'
set arrow from 0.95, graph 0 to 0.95, graph 1 nohead lw 1 dt (6,4) lc rgb faint
set label 'accepted of all' at graph 1.02, graph 1.07 left font ',11' textcolor rgb ink
array heads[3] = ['random', 'stripes', 'MNIST']
array seen[3] = [0, 0, 0]
see(p) = (seen[p] = seen[p] + 1)
do for [p = 1:3] {
  stats data_file using (strcol(1) eq from(p) ? see(p) : 0) every ::1 nooutput
  if (seen[p] > 0) {
    set label heads[p] at first 1.005, graph 1.025 left offset 1 + 6.5 * (p - 1),0 font ',11' \
      textcolor rgb palette[int(word(colours, p))]
  }
}
at_row(y, p) = y + 0.26 * (p - 2)
shown(x) = x < y_low ? y_low : x
of(p, x) = strcol(1) eq from(p) && valid(4) ? x : NaN
cut(x) = x < y_low ? y_low : NaN
cut_limit(x, point) = point < y_low ? NaN : cut(x)
plot for [p = 1:3] data_file using (of(p, shown($5))):(at_row($2, p)):(shown($6) - shown($5)):(0) every ::1 \
       with vectors nohead lw 1.2 lc rgb palette[int(word(colours, p))] notitle, \
     for [p = 1:3] data_file using (of(p, $4)):(at_row($2, p)) every ::1 with points pt int(word(marks, p)) ps 0.55 \
       lc rgb palette[int(word(colours, p))] title (drawn[p] ? names[p] : ''), \
     for [p = 1:3] data_file using (of(p, cut($4))):(at_row($2, p)) every ::1 with points pt 13 ps 0.9 \
       lc rgb palette[int(word(colours, p))] notitle, \
     for [p = 1:3] data_file using (of(p, cut_limit($5, $4))):(at_row($2, p)) every ::1 with points pt 12 ps 0.9 \
       lc rgb palette[int(word(colours, p))] notitle, \
     data_file using (strcol(1) eq 'random' ? y_low : NaN):2:(strcol(3)) every ::1 \
       with labels right offset -1,0 font ',12' textcolor rgb ink notitle, \
     for [p = 1:3] data_file using (strcol(1) eq from(p) ? 1.005 : NaN):2: \
       (sprintf('%s/%s', strcol(7), strcol(8))) every ::1 with labels left offset 1 + 6.5 * (p - 1),0 \
       font ',11' textcolor rgb palette[int(word(colours, p))] notitle
