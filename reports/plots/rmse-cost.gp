# RMSE of every method against its cost, each curve named at its end.
# Reads data_file: curve, colour, method, sweeps, rmse, label; what is above y_high is marked there.
load plots . '/style.gp'
set datafile separator ','
stats data_file using 1 every ::1 name 'curve' nooutput
stats data_file using 4 every ::1 name 'sweeps' nooutput
stats data_file using 5 every ::1 name 'rmse' nooutput
stats data_file using 6 every ::1 name 'label' nooutput
curves = int(curve_max) + 1
array colours[curves]
keep(curve, colour) = (colours[int(curve) + 1] = int(colour), curve)
stats data_file using (keep($1, $2)) every ::1 nooutput
ticks = ''  # every number of sweeps once, ', ' before each
collect(x) = (strstrt(ticks . ',', sprintf(', %d,', x)) ? 0 : (ticks = ticks . sprintf(', %d', x), 0), x)
stats data_file using (collect($4)) every ::1 nooutput
eval 'set xtics (' . ticks[3:*] . ')'
dash(c) = c % 4 + 1
set margins 9, 18, 3.6, 1
set logscale xy
set xrange [sweeps_min * 0.9:sweeps_max * 1.12]
low = (label_min < rmse_min ? label_min : rmse_min) * 0.75
cut = rmse_max > y_high ? y_high : rmse_max
high = (label_max > cut ? label_max : cut) * 1.15
set yrange [low:high]
set xlabel 'Gibbs sweeps of each of 100 chains'
set ylabel 'RMSE of log Z / nats'
set ytics (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5)
unset key
at_end(x) = x == sweeps_max
shown(y) = y > cut ? cut : y
plot for [c = 0:curves - 1] data_file using (int($1) == c ? $4 : NaN):5 every ::1 \
       with lines lw 1.5 dt dash(c) lc rgb palette[colours[c + 1]], \
     for [c = 0:curves - 1] data_file using (int($1) == c ? $4 : NaN):(shown($5)):($5 > y_high ? 0.9 : 0.4): \
       ($5 > y_high ? 9 : 7) every ::1 with points pt variable ps variable lc rgb palette[colours[c + 1]], \
     for [c = 0:curves - 1] data_file \
       using (int($1) == c && at_end($4) ? sweeps_max * 1.02 : NaN):(shown($5)):(sweeps_max * 0.09):($6 - shown($5)) \
       every ::1 with vectors nohead lw 0.6 lc rgb palette[colours[c + 1]], \
     for [c = 0:curves - 1] data_file \
       using (int($1) == c && at_end($4) ? sweeps_max * 1.12 : NaN):6:(strcol(3)) every ::1 \
       with labels left offset 0.3,0 font ',12' textcolor rgb palette[colours[c + 1]]
