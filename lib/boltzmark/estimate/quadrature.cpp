#include "boltzmark/estimate/quadrature.hpp"

#include "boltzmark/core/error.hpp"

namespace boltzmark {
namespace {

double width(const Ladder& ladder, int interval) { return ladder[interval + 1] - ladder[interval]; }

// The integral of the parabola through three rungs from `near` to `mid`, a distance h apart; `far`
// lies `other` beyond mid.
void add_parabola(int interval, int near, int step, double h, double other,
                  std::vector<QuadratureTerm>& terms) {
  const double both = h + other;
  terms.push_back({interval, near, h * (2 * h + 3 * other) / (6 * both)});
  terms.push_back({interval, near + step, h * (h + 3 * other) / (6 * other)});
  terms.push_back({interval, near + 2 * step, -h * h * h / (6 * other * both)});
}

void add_simpson(const Ladder& ladder, int k, std::vector<QuadratureTerm>& terms) {
  const double h = width(ladder, k);
  if (k % 2 == 0 && k + 2 < ladder.rungs())
    add_parabola(k, k, 1, h, width(ladder, k + 1), terms);
  else
    add_parabola(k, k + 1, -1, h, width(ladder, k - 1), terms);
}

void add_interval(Quadrature quadrature, const Ladder& ladder, int k,
                  std::vector<QuadratureTerm>& terms) {
  const double h = width(ladder, k);
  switch (quadrature) {
    case Quadrature::left:
      terms.push_back({k, k, h});
      return;
    case Quadrature::right:
      terms.push_back({k, k + 1, h});
      return;
    case Quadrature::simpson:
      if (ladder.rungs() > 2) return add_simpson(ladder, k, terms);
      [[fallthrough]];
    case Quadrature::trapezoid:
      terms.push_back({k, k, h / 2});
      terms.push_back({k, k + 1, h / 2});
      return;
    case Quadrature::corrected:
      terms.push_back({k, k, h / 2, h * h / 12});
      terms.push_back({k, k + 1, h / 2, -h * h / 12});
      return;
  }
  throw InvalidArgument("quadrature (must be one of the enumeration)");
}

}  // namespace

std::vector<QuadratureTerm> quadrature_terms(Quadrature quadrature, const Ladder& ladder) {
  std::vector<QuadratureTerm> terms;
  for (int k = 0; k + 1 < ladder.rungs(); ++k) add_interval(quadrature, ladder, k, terms);
  return terms;
}

}  // namespace boltzmark
