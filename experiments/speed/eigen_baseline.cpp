#include "experiments/speed/eigen_baseline.hpp"

#include <Random123/philox.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>

namespace boltzmark::speed::baseline {
namespace {

using Matrix = Eigen::MatrixXf;

// Activates, draws and thresholds in place: x becomes 0 or 1.
void sample(Matrix& x, std::uint32_t sweep, std::uint32_t layer) {
  x.array() = 1.0F / (1.0F + (-x.array()).exp());
  r123::Philox4x32 philox;
  float* value = x.data();
  for (Eigen::Index i = 0; i < x.size(); i += 4) {
    const auto draws = philox({{static_cast<std::uint32_t>(i), sweep, layer, 0}}, {{1, 2}});
    for (Eigen::Index k = 0; k < 4 && i + k < x.size(); ++k)
      value[i + k] = static_cast<float>(draws[k] >> 8) * 0x1p-24F < value[i + k] ? 1.0F : 0.0F;
  }
}

Eigen::ArrayXf softplus_sum(const Matrix& x) {
  return (x.array().max(0.0F) + (1.0F + (-x.array().abs()).exp()).log())
      .colwise()
      .sum()
      .transpose();
}

}  // namespace

class Rbm {
 public:
  Rbm(int visible, int hidden, int chains, const float* w)
      : weights(Eigen::Map<const Matrix>(w, visible, hidden)),
        transposed(weights.transpose()),
        b(Eigen::VectorXf::Zero(visible)),
        c(Eigen::VectorXf::Zero(hidden)),
        v(Matrix::Zero(visible, chains)),
        h(Matrix::Zero(hidden, chains)),
        log_weights(Eigen::ArrayXf::Zero(chains)) {}
  Matrix weights, transposed;
  Eigen::VectorXf b, c;
  Matrix v, h, mean;
  Eigen::ArrayXf log_weights;
  std::uint32_t sweeps = 0;
};

Rbm* make_rbm(int visible, int hidden, int chains, const float* weights) {
  return new Rbm(visible, hidden, chains, weights);
}

void destroy(Rbm* rbm) { delete rbm; }

void sweep(Rbm& rbm) {
  ++rbm.sweeps;
  rbm.h.noalias() = rbm.transposed * rbm.v;
  rbm.h.colwise() += rbm.c;
  sample(rbm.h, rbm.sweeps, 1);
  rbm.v.noalias() = rbm.weights * rbm.h;
  rbm.v.colwise() += rbm.b;
  sample(rbm.v, rbm.sweeps, 0);
}

void products(Rbm& rbm) {
  rbm.h.noalias() = rbm.transposed * rbm.v;
  rbm.v.noalias() = rbm.weights * rbm.h;
}

void anneal(Rbm& rbm, float b, float step) {
  ++rbm.sweeps;
  rbm.h.noalias() = rbm.transposed * rbm.v;  // of the v before: the weight and the next h share it
  rbm.h.colwise() += rbm.c;
  rbm.log_weights += softplus_sum((b + step) * rbm.h) - softplus_sum(b * rbm.h) +
                     step * (rbm.b.transpose() * rbm.v).transpose().array();
  rbm.h *= b + step;
  sample(rbm.h, rbm.sweeps, 1);
  rbm.v.noalias() = rbm.weights * rbm.h;
  rbm.v.colwise() += rbm.b;
  rbm.v *= b + step;
  sample(rbm.v, rbm.sweeps, 0);
}

void contrastive_divergence(Rbm& rbm) {
  ++rbm.sweeps;
  const auto cases = static_cast<float>(rbm.v.cols());
  Matrix positive = rbm.transposed * rbm.v;
  positive.colwise() += rbm.c;
  rbm.h = positive;
  sample(rbm.h, rbm.sweeps, 1);
  positive.array() = 1.0F / (1.0F + (-positive.array()).exp());
  Matrix v = rbm.weights * rbm.h;
  v.colwise() += rbm.b;
  sample(v, rbm.sweeps, 0);
  Matrix negative = rbm.transposed * v;
  negative.colwise() += rbm.c;
  negative.array() = 1.0F / (1.0F + (-negative.array()).exp());
  const float rate = 1e-6F / cases;  // so small that the model stays what it is
  rbm.weights.noalias() += rate * rbm.v * positive.transpose();
  rbm.weights.noalias() -= rate * v * negative.transpose();
  rbm.b += rate * (rbm.v - v).rowwise().sum();
  rbm.c += rate * (positive - negative).rowwise().sum();
  rbm.transposed = rbm.weights.transpose();
}

class Dbm {
 public:
  Dbm(int visible, int lower, int upper, int cases)
      : bottom(Matrix::Ones(visible, lower)),
        bottom_transposed(bottom.transpose()),
        top(Matrix::Ones(lower, upper)),
        top_transposed(top.transpose()),
        v(Matrix::Ones(visible, cases)),
        h1(Matrix::Ones(lower, cases)),
        h2(Matrix::Ones(upper, cases)),
        from_below(lower, cases),
        to_v(visible, cases),
        to_h1(lower, cases),
        to_h2(upper, cases),
        bottom_statistics(visible, lower),
        top_statistics(lower, upper) {}
  Matrix bottom, bottom_transposed, top, top_transposed;
  Matrix v, h1, h2, from_below, to_v, to_h1, to_h2;  ///< [units x cases]
  Matrix bottom_statistics, top_statistics;
};

Dbm* make_dbm(int visible, int lower, int upper, int cases) {
  return new Dbm(visible, lower, upper, cases);
}

void destroy_dbm(Dbm* dbm) { delete dbm; }

void update_products(Dbm& dbm) {
  dbm.from_below.noalias() = dbm.bottom_transposed * dbm.v;
  for (int update = 0; update < kMeanFieldUpdates; ++update) {
    dbm.to_h2.noalias() = dbm.top_transposed * dbm.h1;
    dbm.to_h1.noalias() = dbm.top * dbm.h2;
  }
  dbm.from_below.noalias() = dbm.bottom_transposed * dbm.v;
  dbm.to_h1.noalias() = dbm.top * dbm.h2;
  dbm.to_v.noalias() = dbm.bottom * dbm.h1;
  dbm.to_h2.noalias() = dbm.top_transposed * dbm.h1;
  const Eigen::Index slow = dbm.v.cols() / 2;
  dbm.bottom_statistics.noalias() = dbm.v * dbm.h1.transpose();
  dbm.top_statistics.noalias() = dbm.h1 * dbm.h2.transpose();
  dbm.bottom_statistics.noalias() -= dbm.v.leftCols(slow) * dbm.h1.leftCols(slow).transpose();
  dbm.top_statistics.noalias() -= dbm.h1.leftCols(slow) * dbm.h2.leftCols(slow).transpose();
}

double naive_log_z(int visible, int hidden, const float* weights) {
  constexpr int kBlockUnits = 10;
  const Eigen::Map<const Matrix> w(weights, visible, hidden);
  const int low = std::min(kBlockUnits, hidden);
  Matrix states(hidden, 1 << low);
  for (int s = 0; s < states.cols(); ++s)
    for (int j = 0; j < hidden; ++j) states(j, s) = static_cast<float>(s >> j & 1);
  double high = -1e300, sum = 0;
  Matrix inputs;
  for (std::int64_t block = 0; block < std::int64_t{1} << (hidden - low); ++block) {
    for (int j = low; j < hidden; ++j)
      states.row(j).setConstant(static_cast<float>(block >> (j - low) & 1));
    inputs.noalias() = w * states;
    const Eigen::ArrayXd log_f = softplus_sum(inputs).cast<double>();
    const double most = log_f.maxCoeff();
    if (most > high) {
      sum *= std::exp(high - most);
      high = most;
    }
    sum += (log_f - high).exp().sum();
  }
  return high + std::log(sum);
}

float multiply_adds(std::int64_t n) {
  using Lane = Eigen::internal::packet_traits<float>::type;
  constexpr int kLanes = Eigen::internal::packet_traits<float>::size;
  constexpr int kChains = 12;  // enough to hide the latency of each
  Lane sums[kChains];
  const Lane factor = Eigen::internal::pset1<Lane>(0.999F),
             term = Eigen::internal::pset1<Lane>(1e-3F);
  for (Lane& sum : sums) sum = term;
  for (std::int64_t i = 0; i < n; i += kChains * kLanes)
    for (Lane& sum : sums) sum = Eigen::internal::pmadd(sum, factor, term);
  alignas(64) float lanes[kLanes];
  float total = 0;
  for (const Lane& sum : sums) {
    Eigen::internal::pstore(lanes, sum);
    total += lanes[0];
  }
  return total;
}

template <class Scalar, bool kHalf>
struct LaneOf {
  using type = typename Eigen::internal::packet_traits<Scalar>::type;
};
template <class Scalar>
struct LaneOf<Scalar, true> {
  using type = typename Eigen::internal::packet_traits<Scalar>::half;
};

// Seven pairs of registers hide the latency of each, and fit 16.
template <class Scalar, bool kHalf>
double add_and_multiply(std::int64_t n) {
  using Lane = typename LaneOf<Scalar, kHalf>::type;
  constexpr int kLanes = sizeof(Lane) / sizeof(Scalar);
  constexpr int kPairs = 7;
  Lane products[kPairs], terms[kPairs];
  volatile Scalar nothing = 0;  // unknown to the compiler
  const Lane step = Eigen::internal::pset1<Lane>(Scalar(nothing));
  for (Lane& product : products) product = Eigen::internal::pset1<Lane>(Scalar(1));
  for (Lane& term : terms) term = Eigen::internal::pset1<Lane>(Scalar(1));
  for (std::int64_t i = 0; i < n; i += kPairs * kLanes)
    for (int k = 0; k < kPairs; ++k) {
      terms[k] = Eigen::internal::padd(terms[k], step);
      products[k] = Eigen::internal::pmul(products[k], terms[k]);
    }
  alignas(64) Scalar lanes[kLanes];
  double total = 0;
  for (const Lane& product : products) {
    Eigen::internal::pstore(lanes, product);
    total += static_cast<double>(lanes[0]);
  }
  return total;
}

double add_and_multiply_doubles(std::int64_t n, bool half) {
  return half ? add_and_multiply<double, true>(n) : add_and_multiply<double, false>(n);
}
double add_and_multiply_floats(std::int64_t n, bool half) {
  return half ? add_and_multiply<float, true>(n) : add_and_multiply<float, false>(n);
}

void scalar_draws(std::uint32_t* out, int n, std::uint32_t sweep) {
  r123::Philox4x32 philox;
  for (int i = 0; i < n; i += 4) {
    const auto draws = philox({{static_cast<std::uint32_t>(i / 4), sweep, 0, 0}}, {{1, 2}});
    for (int k = 0; k < 4; ++k) out[i + k] = draws[k];
  }
}

}  // namespace boltzmark::speed::baseline
