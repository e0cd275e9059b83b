# Fig. 1 of bruegge2013: the two states of a variable and the transitions between them.
# Reads data_file (operator, from, to, probability, label): Gibbs on the left, flip on the right.
load plots . '/style.gp'
set datafile separator ','
unset border; unset tics; unset grid; unset key
set margins 0, 0, 0, 0
set xrange [-3.1:9.5]
set yrange [-2.0:2.4]
set samples 60

left(operator) = operator eq 'flip' ? 6 : 0         # where an operator's diagram stands
radius = 0.42
set label '(a) Gibbs sampling' at -3.0, 2.1 left font ',14'
set label '(b) flip-the-state T' at 2.95, 2.1 left font ',14'
do for [ox in '0 6'] {
  do for [s in '0 1'] {
    set object circle at ox + 2.4 * s - 1.2, 0 size radius fillcolor rgb '#eef3f8' fillstyle solid \
      border rgb ink lw 1.5 front
    set label 'V = ' . s at ox + 2.4 * s - 1.2, 0 center font ',12' front
  }
}

# Edges: a bow between the states (from 0 to 1 above, back below), or a loop beside the state.
# An edge of probability 0 is drawn faint. t runs from 0 to 1 along the edge.
bow_x(f, t) = (f ? -1 : 1) * (-0.92 + 1.84 * t)
bow_y(f, t) = (f ? -1 : 1) * (0.3 + 2.0 * t * (1 - t))
loop_x(f, t) = (f ? 1 : -1) * (1.60 + 0.42 - 0.42 * cos(2 * pi * (0.09 + 0.82 * t)))
loop_y(t) = 0.42 * sin(2 * pi * (0.09 + 0.82 * t))
edge_x(f, g, t) = f == g ? loop_x(f, t) : bow_x(f, t)
edge_y(f, g, t) = f == g ? loop_y(t) : bow_y(f, t)
shade(operator, p) = p == 0 ? 0xc8c8c8 : operator eq 'flip' ? 0xd55e00 : 0x000000
label_x(f, g) = f == g ? (f ? 2.15 : -1.95) : 0
label_y(f, g) = f == g ? (f ? -0.75 : 1.1) : (f ? -1.12 : 1.12)
# A loop's label takes two lines, so that it stays clear of the bows.
broken(text, at) = at ? text[1:at - 1] . "\n" . text[at + 1:*] : text
written(f, g, text) = f == g ? broken(text, strstrt(text, ' = ')) : text

stats data_file using 4 every ::1 name 'edge' nooutput
array operators[edge_records]; array froms[edge_records]; array tos[edge_records]
array probabilities[edge_records]; array texts[edge_records]
row = 0
keep(o, f, g, p, text) = (row = row + 1, operators[row] = o, froms[row] = int(f), tos[row] = int(g), \
  probabilities[row] = p, texts[row] = text, p)
stats data_file using (keep(strcol(1), $2, $3, $4, strcol(5))) every ::1 nooutput
do for [i = 1:edge_records] {
  ox = left(operators[i]); f = froms[i]; g = tos[i]; colour = shade(operators[i], probabilities[i])
  set arrow from ox + edge_x(f, g, 0.93), edge_y(f, g, 0.93) to ox + edge_x(f, g, 1), edge_y(f, g, 1) \
    head filled size 0.16, 20 lw 1.6 lc rgb colour front
  set label written(f, tos[i], texts[i]) at ox + label_x(f, g), label_y(f, g) center font ',12' \
    textcolor rgb (probabilities[i] == 0 ? 0x8a8a8a : 0x222222) front
}
unset datafile
set datafile separator whitespace
along(x) = 0.97 * (x + 3.1) / 12.6  # '+' samples the x axis; an edge stops short of its arrow's tip
plot for [i = 1:edge_records] '+' \
  using (left(operators[i]) + edge_x(froms[i], tos[i], along($1))):(edge_y(froms[i], tos[i], along($1))) \
  with lines lw 1.6 lc rgb shade(operators[i], probabilities[i])
