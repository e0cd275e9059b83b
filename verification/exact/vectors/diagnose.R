# Values of R and coda that the diagnostics must reproduce:
#   Rscript --vanilla diagnose.R > diagnose.json
# (made with R 4.2.2 and coda 0.19-4). Series come from a generator that any language can write out:
#   s <- 16807 s mod 2^31-1, u = s / (2^31-1), exact in double precision.
suppressMessages(library(coda))
options(digits = 17, warn = -1)

uniforms <- function(seed, n) {
  s <- seed
  u <- numeric(n)
  for (i in 1:n) {
    s <- (s * 16807) %% 2147483647
    u[i] <- s / 2147483647
  }
  u
}
# x_t = a1 x_{t-1} + a2 x_{t-2} + u_t - 1/2, plus `slow` times an AR(1) of 0.99 on the next n uniforms
series <- function(seed, n, a1, a2, slow) {
  u <- uniforms(seed, 2 * n)
  x <- numeric(n)
  y <- numeric(n)
  for (t in 1:n) {
    x1 <- if (t > 1) x[t - 1] else 0
    x2 <- if (t > 2) x[t - 2] else 0
    x[t] <- a1 * x1 + a2 * x2 + (u[t] - 0.5)
    y1 <- if (t > 1) y[t - 1] else 0
    y[t] <- 0.99 * y1 + (u[n + t] - 0.5)
  }
  x + slow * y
}
num <- function(x) {
  s <- formatC(x, digits = 17, format = "g", width = 1)
  s[is.infinite(x) & x > 0] <- "1e999"
  s
}
list_of <- function(x) paste0("[", paste(num(x), collapse = ","), "]")
object <- function(...) {
  fields <- list(...)
  paste0("{", paste0("\"", names(fields), "\":", unlist(fields), collapse = ","), "}")
}
array_of <- function(items) paste0("[\n  ", paste(items, collapse = ",\n  "), "\n ]")

# The delta method by numerical differentiation of the time as a function of the coefficients.
time_of <- function(pi) {
  rho <- ARMAacf(ar = pi)[2:(length(pi) + 1)]
  (1 - sum(pi * rho)) / (1 - sum(pi))^2
}
time_error <- function(fit) {
  p <- length(fit$ar)
  gradient <- numeric(p)
  for (j in 1:p) {
    h <- 1e-6
    up <- fit$ar; up[j] <- up[j] + h
    down <- fit$ar; down[j] <- down[j] - h
    gradient[j] <- (time_of(up) - time_of(down)) / (2 * h)
  }
  sqrt(drop(t(gradient) %*% fit$asy.var.coef %*% gradient))
}
ar_case <- function(seed, n, a1, a2, slow) {
  x <- series(seed, n, a1, a2, slow)
  fit <- ar.yw(x)
  aic_order <- fit$order
  if (fit$order == 0) fit <- ar.yw(x, order.max = 1, aic = FALSE)
  object(seed = seed, n = n, a1 = num(a1), a2 = num(a2), slow = num(slow), aic_order = aic_order,
         max_order = ar.yw(x)$order.max, ar = list_of(fit$ar), var_pred = num(fit$var.pred),
         tau = num(time_of(fit$ar)), std_error = num(time_error(fit)),
         spectrum0 = num(spectrum0.ar(x)$spec), effective_size = num(effectiveSize(x)),
         variance = num(var(x)),
         acf = list_of(acf(x, lag.max = 100, plot = FALSE)$acf[c(1, 2, 3, 11, 51, 101)]))
}
differences <- function(seed, n, shift, grid) {
  d <- uniforms(seed, n) - 0.5 + shift
  if (grid > 0) d <- round(d * grid) / grid
  d
}
wilcoxon_case <- function(seed, n, shift, grid, exact) {
  d <- differences(seed, n, shift, grid)
  p <- function(a) wilcox.test(d, alternative = a, exact = exact)$p.value
  w <- wilcox.test(d, exact = exact, conf.int = exact)
  fields <- list(seed = seed, n = n, shift = num(shift), grid = num(grid),
                 exact = tolower(as.character(exact)), v = num(w$statistic),
                 two_sided = num(p("two.sided")), less = num(p("less")), greater = num(p("greater")))
  if (exact) fields <- c(fields, list(estimate = num(w$estimate), lower = num(w$conf.int[1]),
                                      upper = num(w$conf.int[2])))
  do.call(object, fields)
}
binom_case <- function(x, n, p) {
  t <- function(a) binom.test(x, n, p, alternative = a)$p.value
  ci <- binom.test(x, n, p)$conf.int
  object(x = x, n = n, p = num(p), two_sided = num(t("two.sided")), less = num(t("less")),
         greater = num(t("greater")), lower = num(ci[1]), upper = num(ci[2]))
}
fisher_case <- function(x1, n1, x2, n2) {
  m <- matrix(c(x1, n1 - x1, x2, n2 - x2), 2)
  t <- function(a) fisher.test(m, alternative = a)$p.value
  object(x1 = x1, n1 = n1, x2 = x2, n2 = n2, two_sided = num(t("two.sided")), less = num(t("less")),
         greater = num(t("greater")))
}
trend_case <- function(x, n) {
  object(x = list_of(x), n = list_of(n), chisq = num(prop.trend.test(x, n)$statistic))
}
t_case <- function(seed, n, shift) {
  d <- differences(seed, n, shift, 0)
  ci <- t.test(d)$conf.int
  object(seed = seed, n = n, shift = num(shift), mean = num(mean(d)), lower = num(ci[1]),
         upper = num(ci[2]), quartile = num(quantile(d, 0.25)), median = num(median(d)))
}
power_case <- function(n, effect, alpha, alternative) {
  p <- power.t.test(n, effect, sig.level = alpha, type = "one.sample", alternative = alternative,
                    strict = TRUE)$power
  object(n = n, effect = num(effect), alpha = num(alpha),
         alternative = paste0("\"", alternative, "\""), power = num(p))
}

cat("{\n \"ar\": ", array_of(c(
  ar_case(1, 5000, 0.9, 0, 0), ar_case(2, 2000, 1.2, -0.5, 0), ar_case(3, 500, 0, 0, 0),
  ar_case(6, 300, 0, 0, 0), ar_case(4, 20000, 0.5, 0, 0.3), ar_case(5, 3000, -0.7, 0, 0))),
  ",\n \"wilcoxon\": ", array_of(c(
  wilcoxon_case(11, 10, 0.1, 0, TRUE), wilcoxon_case(12, 25, 0.1, 0, TRUE),
  wilcoxon_case(13, 49, -0.05, 0, TRUE), wilcoxon_case(14, 30, 0.05, 10, FALSE),
  wilcoxon_case(15, 60, 0.1, 0, FALSE), wilcoxon_case(16, 120, -0.1, 20, FALSE))),
  ",\n \"binomial\": ", array_of(c(
  binom_case(7, 10, 0.5), binom_case(0, 20, 0.1), binom_case(25, 25, 0.5),
  binom_case(31, 100, 0.25), binom_case(180, 400, 0.5))),
  ",\n \"fisher\": ", array_of(c(
  fisher_case(3, 10, 8, 12), fisher_case(55, 100, 224, 400), fisher_case(11, 100, 80, 400),
  fisher_case(0, 100, 0, 400), fisher_case(82, 100, 168, 200))),
  ",\n \"trend\": ", array_of(c(
  trend_case(c(0, 11, 39, 55, 65, 68, 73, 79, 82, 81), rep(100, 10)),
  trend_case(c(15, 10, 12, 9), c(30, 25, 28, 30)))),
  ",\n \"student\": ", array_of(c(t_case(31, 25, 0.1), t_case(32, 24, -0.2))),
  ",\n \"holm\": ", object(p = list_of(c(0.01, 0.04, 0.03, 0.005, 0.9)),
                           adjusted = list_of(p.adjust(c(0.01, 0.04, 0.03, 0.005, 0.9), "holm"))),
  ",\n \"power\": ", array_of(c(power_case(25, 0.5, 0.05, "two.sided"),
                                power_case(10, 1.0, 0.05, "one.sided"),
                                power_case(24, 0.2, 0.01, "two.sided"))),
  "\n}\n", sep = "")
