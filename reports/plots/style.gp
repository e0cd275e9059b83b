# The look of every figure. Before loading it set `output_file`, `width` and `height` (pixels).
# Palette: Okabe and Ito's, which colour-blind readers can tell apart.
set encoding utf8
set terminal svg size width,height dynamic rounded enhanced font 'Helvetica,13' background '#ffffff'
set output output_file
array palette[7] = ['#000000', '#d55e00', '#0072b2', '#009e73', '#e69f00', '#cc79a7', '#56b4e9']
ink = '#333333'
faint = '#8a8a8a'
set border 3 lw 0.8 lc rgb ink
set tics nomirror out scale 0.5 textcolor rgb ink
set grid ytics lw 0.5 lc rgb '#e4e4e4' dt solid
set minussign
set key Left reverse samplen 2.4 spacing 1.15 width -1 textcolor rgb ink noenhanced enhanced
set xlabel textcolor rgb ink offset 0,0.2
set ylabel textcolor rgb ink offset 0.5,0
set title textcolor rgb ink font ',13' offset 0,-0.3
set errorbars small
set style fill transparent solid 0.16 noborder
set datafile missing 'nan'
