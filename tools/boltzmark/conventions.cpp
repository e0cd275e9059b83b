#include "conventions.hpp"

#include <fmt/format.h>

#include "boltzmark/estimate/methods.hpp"

namespace boltzmark::cli {
namespace {

constexpr const char* kEnergies = R"(# Conventions

What every number of this program rests on; `boltzmark help conventions` prints this page. Logarithms are
natural, and log quantities are in nats.

## Energy

Layer 0 holds the visible units v, layer 1 the hidden ones h; deeper machines go on. A layer's units are
independent given its neighbours. With biases a_l of layer l and weights W_l [units of l, units of l + 1],

    E(x) = -sum_l a_l . x_l - sum_l x_l' W_l x_{l+1}        of an RBM: E(v, h) = -b'v - c'h - v'W h
    p(x) = e^{-E(x)} / Z                                    b and c in a file are a_0 and a_1

There is no temperature in a file: a model is what it is at inverse temperature 1.

| units | code in `units` | values x | measure of a value | own energy |
|---|---|---|---|---|
| Bernoulli | 0 | 0, 1 | 1 | -a x |
| X(s), s = 1, 2, .. | s | (2k - s)/s, k = 0..s: evenly in [-1, 1] | 2/(s + 1) | -a x |
| continuous | -1 | [-1, 1] | dx | -a x |
| Gaussian | -2 | all reals | dx | (x - a)^2 / (2 sigma^2) |

X(1) is the spin: -1 and 1, each with measure 1. The measures of X(s) add up to 2, the length of [-1, 1], so
that X(s) tends to continuous units as s grows. A Gaussian visible layer has

    E(v, h) = sum_i (v_i - b_i)^2 / (2 sigma_i^2) - c'h - v'W h

with the weights not divided by sigma, so that v_i given h has mean b_i + sigma_i^2 (W h)_i and standard
deviation sigma_i.

## log Z and likelihoods

Z is the sum of e^{-E} over all states, each value times its measure, or the integral. Where one side is
summed out, f(v) is what e^{-E} adds up to over h, and

    log p(v) = log f(v) - log Z

is the log-likelihood of a case, of continuous and Gaussian units that of a density, and of X(s) units
one by the measure of their values, log((s + 1)/2) a unit above log of the probability; `score` prints its
mean over the cases. Nothing is left out of Z: an estimate of any method, any base and any ladder
is one of the same number.

## Base and ladder

Sampling methods go from a base p_1, a product of laws of single units whose Z is 1, to the model:

    log f_b(x) = b log f(x) + (1 - b) log p_1(x),    0 = b_1 < b_2 < .. < b_K = 1

The base is uniform over each unit's values, or has the smoothed rates of data in the visible units
(`--base`). The ladder of K inverse temperatures b (`--temperatures`) is linear, geometric, that of
Salakhutdinov and Murray, adaptive, or a file of numbers (`--ladder`). D = log f(x) - log p_1(x) is what
thermodynamic integration averages: log Z = integral of E_b[D] over b from 0 to 1. Rungs are counted from
0, sweeps from 1. A Gaussian layer is not tempered, so that its log Z is exact or none.

## What each method needs

`exact` needs one side of at most 40 discrete units, or 56 with `--max-units`. Every other method needs a
model without Gaussian layers, and:

| method | its samples | `--prior` | `--states` | reads a stored run | |
|---|---|---|---|---|---|
)";

constexpr const char* kExample = R"(
A stored run (`estimate --dump`, `--from`) holds D and rung of every sample; methods that average collapsed
densities also need its log_f. AIS, RAISE and SMC move chains by Gibbs sampling; RAISE bounds log Z from above only if
its cases (`--data`) are exact samples of the model, without which it makes them by a tempered run.

## A worked example

Two visible units and a hidden one, all Bernoulli, with W = (log 3, log 2)', b = (log 2, 0)', c = 0. Sum over h
for each v: f(v) = 2^{v1} (1 + 3^{v1} 2^{v2}).

| v | f(v) | p(v) |
|---|---|---|
| 0 0 | 1 (1 + 1) = 2 | 2/27 |
| 1 0 | 2 (1 + 3) = 8 | 8/27 |
| 0 1 | 1 (1 + 2) = 3 | 3/27 |
| 1 1 | 2 (1 + 6) = 14 | 14/27 |

Z = 27, so that log Z = 3.295837, and of the case (1, 1) log p = log(14/27) = -0.656780. With NumPy and the program:

```python
import numpy as np
np.savez("two.npz", W=np.log([[3.0], [2.0]]), b=np.log([2.0, 1.0]), c=np.zeros(1))
```

    boltzmark exact two.npz
    boltzmark estimate two.npz

The same for one visible unit of each type with a Bernoulli hidden one, weight 1, biases 0, sigma 1, where
f(v) = 1 + e^v:

| visible unit | Z | log Z |
|---|---|---|
| bernoulli | 2 + (1 + e) | 1.743668 |
| 1 | (1 + 1/e) + (1 + e) | 1.626523 |
| 2 | 2/3 ((1 + 1/e) + 2 + (1 + e)) | 1.552679 |
| continuous | 2 + e - 1/e | 1.470268 |
| gaussian | sqrt(2 pi) (1 + e^{1/2}) | 1.893016 |
)";

std::string yes(bool is) { return is ? "yes" : ""; }

// A method of one's own may be there too.
std::string needs() {
  std::string rows;
  for (const Method& method : registered_methods())
    rows += fmt::format("| {} | {} | {} | {} | {} | {} |\n", method.name, name(method.source),
                        yes(method.reads.log_prior), yes(method.reads.states),
                        yes(method.from_store != nullptr), method.summary);
  return rows;
}

}  // namespace

std::string conventions() { return kEnergies + needs() + kExample; }

}  // namespace boltzmark::cli
