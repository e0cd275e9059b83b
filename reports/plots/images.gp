# Images, a row a chain: Gibbs sampling above, adaptive simulated tempering below: Fig. 4 (left) and
# Fig. 5 of salakhutdinov2010.
# Reads data_file (sampler, row, column, pixel_row, pixel_column, pixels, darkness): runs of pixels that
# are equally dark, from 0, white, which is left out, to 1.
load plots . '/style.gp'
set datafile separator ','
unset border; unset tics; unset grid; unset key
stats data_file using 2 every ::1 name 'row' nooutput
stats data_file using 3 every ::1 name 'column' nooutput
stats data_file using 4 every ::1 name 'high' nooutput
stats data_file using ($5 + $6) every ::1 name 'wide' nooutput
pitch = (high_max > wide_max ? high_max : wide_max) + 4
half = floor((row_max + 1) / 2)
gap = pitch / 2.0  # between the samplers
top(row) = row * pitch + (row >= half ? gap : 0)
set margins 11, 1, 0.5, 0.5
set size ratio -1
set xrange [-2:(column_max + 1) * pitch]
set yrange [top(row_max + 1):-2]
set label 'Gibbs' at graph -0.015, first half * pitch / 2.0 right textcolor rgb ink
set label 'adaptive ST' at graph -0.015, first top(half) + half * pitch / 2.0 right textcolor rgb ink
left(column) = column * pitch
grey(darkness) = int(255 - 221 * darkness) * 0x010101
plot data_file every ::1 using (left($3) + $5):(top($2) + $4):(left($3) + $5):(left($3) + $5 + $6): \
  (top($2) + $4):(top($2) + $4 + 1):(grey($7)) with boxxyerror fillstyle solid 1.0 noborder lc rgb variable
