# Fig. 7 (right) of carlson2016: how often a chain goes from a rung to another, for each base.
# Reads data_file (base, from, to, log10_probability), rows in the order of both rungs; a transition
# that was not seen is drawn as the least shade.
load plots . '/style.gp'
set datafile separator ','
set xtics 0, 20; set ytics 0, 20
unset grid; unset key
set style fill solid  # or the colour box is faint
set border 15
set cbrange [-4:0]
set cblabel 'log_{10} probability' offset 0.5,0
set palette defined (0 '#f7f7f7', 1 '#c7d9ea', 2 '#6ba3d0', 3 '#0072b2', 4 '#002b4d')
stats data_file using 2 every ::1 name 'rung' nooutput
set xrange [0.5:rung_max + 0.5]; set yrange [rung_max + 0.5:0.5]
set size ratio 1
set multiplot layout 1, 2 margins 0.11, 0.86, 0.2, 0.96 spacing 0.1, 0
shown(base, wanted, value) = base eq wanted ? value : NaN
do for [panel = 1:2] {
  wanted = word('rates uniform', panel)
  set title panel == 1 ? 'base rates' : 'uniform p_1'
  set xlabel 'to rung'
  set ylabel (panel == 1 ? 'from rung' : '') offset 1,0
  if (panel == 1) { unset colorbox } else { set colorbox }
  plot '< grep ^' . wanted . ' ' . data_file using 3:2:4 with image notitle
}
unset multiplot
