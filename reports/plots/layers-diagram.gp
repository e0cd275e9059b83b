# The layers of a network, one above the other: Figs. 1 and 5 of yokoyama2019, Fig. 1 of salakhutdinov2010.
# Reads data_file (element, x, y, dx, dy, text): nodes, edges from (x, y) by (dx, dy), and names.
load plots . '/style.gp'
set datafile separator ','
unset border; unset tics; unset grid; unset key
set margins 0, 0, 0, 0
set size ratio -1
stats data_file using 2:3 every ::1 name 'at' nooutput
set xrange [at_min_x - 0.7:at_max_x + 2.6]
set yrange [at_min_y - 0.7:at_max_y + 0.7]
is(element, x) = strcol(1) eq element ? x : NaN
plot data_file every ::1 using (is('edge', $2)):3:4:5 with vectors nohead lw 1.2 lc rgb '#9aa5b1', \
  '' every ::1 using (is('node', $2)):3:(0.33) with circles fillstyle solid 1.0 border lc rgb ink \
    fillcolor rgb '#eef3f8', \
  '' every ::1 using (is('node', $2)):3:6 with labels center font ',13', \
  '' every ::1 using (is('gap', $2)):3:6 with labels center font ',16', \
  '' every ::1 using (is('name', $2)):3:6 with labels left font ',13'
