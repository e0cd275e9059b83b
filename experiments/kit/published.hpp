#pragma once

#include <string>
#include <vector>

#include "experiments/kit/figure.hpp"

namespace boltzmark::experiments {

/// A curve of a paper's figure, digitised.
struct PublishedCurve {
  std::string figure;  ///< which graph, where a file holds several; else empty
  std::string curve;
  std::vector<double> x;
  std::vector<double> y;
};

/// Reads reports/published/<name>.csv: columns [figure,]curve,x,y with a heading; curves in order
/// of appearance.
/// Throws  DataError if the file is missing or a row is no such row
std::vector<PublishedCurve> read_published(const std::string& name);

/// Picks one curve.  Throws  DataError if the file has no such curve
PublishedCurve find_published(const std::string& name, const std::string& figure,
                              const std::string& curve);

/// Makes a dotted series of a published curve, labelled "published LABEL".
Series published_series(const PublishedCurve& curve, const std::string& label, int colour);

}  // namespace boltzmark::experiments
