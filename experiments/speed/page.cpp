#include "experiments/speed/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "boltzmark/core/error.hpp"
#include "experiments/kit/document.hpp"
#include "experiments/kit/files.hpp"
#include "experiments/speed/contender.hpp"
#include "experiments/speed/numpy_facts.hpp"

namespace boltzmark::speed {
namespace {

using namespace experiments;

/// Where a benchmark's name puts it: "family/size/contender/threads:n/real_time".
struct Place {
  std::string family, size, contender;
  int threads = 1;
  auto operator<=>(const Place&) const = default;
};

Place parse_place(const std::string& name) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= name.size();) {
    const std::size_t to = std::min(name.find('/', from), name.size());
    parts.push_back(name.substr(from, to - from));
    from = to + 1;
  }
  if (parts.size() < 4) throw DataError(name + ": is no name of bench");
  return {parts[0], parts[1], parts[2], std::stoi(parts[3].substr(parts[3].find(':') + 1))};
}

struct Times {
  double best = 0, median = 0;  ///< microseconds
};

/// The benchmarks of a run in its order, repetitions put together.
class Timings {
 public:
  explicit Timings(const Json& bench) {
    std::map<Place, std::vector<double>> all;
    for (const Json& run : bench.at("benchmarks")) {
      if (run.value("run_type", "") != "iteration" || run.value("error_occurred", false)) continue;
      const Place place = parse_place(run.at("run_name"));
      if (!all.contains(place)) order_.push_back(place);
      all[place].push_back(run.at("real_time"));
    }
    for (auto& [place, values] : all) {
      std::sort(values.begin(), values.end());
      const std::size_t n = values.size();
      times_[place] = {values[0], (values[(n - 1) / 2] + values[n / 2]) / 2};
    }
  }

  const std::vector<Place>& places() const { return order_; }
  const Times& at(const Place& place) const { return times_.at(place); }
  /// The fastest of a contender at any number of threads, by medians.
  std::optional<double> fastest(const Place& work, const std::string& contender) const {
    std::optional<double> found;
    for (const auto& [place, times] : times_)
      if (place.family == work.family && place.size == work.size && place.contender == contender)
        found = std::min(found.value_or(times.median), times.median);
    return found;
  }

 private:
  std::vector<Place> order_;
  std::map<Place, Times> times_;
};

Cell ratio(const std::optional<double>& other, double ours) {
  return other ? Cell(*other / ours) : Cell("–");
}

void add_table(const Timings& timings, Summary& summary) {
  Table table{
      .name = "times",
      .caption =
          "Every contender did the same work in one run, repetitions interleaved at "
          "random. Ratios are of medians: how many times as fast as the baseline, "
          "Eigen on one thread, NumPy on whichever number of threads serves it best; "
          "draws alone, arithmetic alone: the share of the work's time that this CPU "
          "needs at least for its draws, and for its multiply-adds or its additions "
          "and products (over 1 where sums are looked up in tables instead); sweeps "
          "alone: that of an estimator's sweeps; products alone: that of the bare float32 "
          "matrix products, by Eigen; trials alone: that of a study's trials, were nobody to hand them out.",
      .columns = {{"work", "family"},
                  {"size", "size"},
                  {"who", "contender"},
                  {"threads", "threads"},
                  {"best / µs", "best", 1},
                  {"median / µs", "median", 1},
                  {"× Eigen", "eigen", 2},
                  {"× NumPy", "numpy", 2},
                  {"draws alone", "draws", 2},
                  {"arithmetic alone", "arithmetic", 2},
                  {"sweeps alone", "sweeps", 2},
                  {"products alone", "products", 2},
                  {"trials alone", "trials", 2}},
      .timing = true};
  for (const Place& place : timings.places()) {
    const Times& times = timings.at(place);
    const bool ours = place.contender.starts_with("boltzmark");
    const auto share = [&](const std::string& floor) {
      std::optional<double> least = timings.fastest(place, floor);
      if (const auto halves = timings.fastest(place, floor + kHalfWidth))
        least = std::min(least.value_or(*halves), *halves);
      return ours && place.threads == 1 && least ? Cell(*least / times.median) : Cell("–");
    };
    table.rows.push_back(
        {place.family, place.size, place.contender, std::int64_t{place.threads}, times.best,
         times.median, ours ? ratio(timings.fastest(place, "Eigen"), times.median) : Cell("–"),
         ours ? ratio(timings.fastest(place, kNumpy), times.median) : Cell("–"), share(kDrawsAlone),
         share(place.contender.ends_with(", float") ? kFloatArithmeticAlone : kArithmeticAlone),
         share(kSweepsAlone), share(kProductsAlone), share(kTrialsAlone)});
  }
  summary.add(std::move(table));
}

/// How many times as fast as a baseline each work is, as bars.
void add_ratios(const Timings& timings, Summary& summary) {
  Panel panel{.x = {.label = "work"},
              .y = {.label = "times as fast", .log = true},
              .series = {},
              .guides = {{.at = 1}},
              .legend = "top left"};
  std::vector<std::pair<std::string, std::string>> works;
  for (const Place& place : timings.places()) {
    const std::pair work{place.family, place.size};
    const bool scaling = place.family == kChainScaling || place.family == kSizeScaling;
    if (!scaling && place.contender == "boltzmark" && place.threads == 1 &&
        std::find(works.begin(), works.end(), work) == works.end() &&
        (timings.fastest(place, "Eigen") || timings.fastest(place, kNumpy)))
      works.push_back(work);
  }
  for (std::size_t w = 0; w < works.size(); ++w)
    panel.x.ticks.emplace_back(std::to_string(w + 1), static_cast<double>(w));
  for (const std::string& baseline : {std::string("Eigen"), std::string(kNumpy)}) {
    Series series{.label = "than " + baseline, .mark = Mark::points};
    for (std::size_t w = 0; w < works.size(); ++w) {
      const Place place{works[w].first, works[w].second, "boltzmark", 1};
      const auto other = timings.fastest(place, baseline);
      if (!other) continue;
      series.x.push_back(static_cast<double>(w) + (baseline == "Eigen" ? -0.1 : 0.1));
      series.y.push_back(*other / timings.at(place).median);
    }
    if (!series.x.empty()) panel.series.push_back(std::move(series));
  }
  if (panel.series.empty()) return;
  panel.x.low = -0.5;
  panel.x.high = static_cast<double>(works.size()) - 0.5;
  std::string caption = "One thread of this engine against the baselines, medians. Works:";
  for (std::size_t w = 0; w < works.size(); ++w)
    caption += fmt::format(" {} {}, {};", w + 1, works[w].first, works[w].second);
  caption.back() = '.';
  summary.add(Figure{.name = "ratios", .caption = caption, .panels = {std::move(panel)}});
}

/// Time against the number in front of a family's sizes: "16 chains".
Panel scaling_panel(const Timings& timings, const std::string& family, const std::string& label,
                    const std::string& unit, bool per_step) {
  Panel panel{.title = family,
              .x = {.label = label, .log = true},
              .y = {.label = unit, .log = true},
              .legend = "top left"};
  std::map<std::pair<std::string, int>, Series> curves;
  for (const Place& place : timings.places()) {
    if (place.family != family) continue;
    Series& series = curves[{place.contender, place.threads}];
    series.label = fmt::format("{}, {} thread{}", place.contender, place.threads,
                               place.threads == 1 ? "" : "s");
    series.mark = Mark::line_points;
    const double x = std::stod(place.size);
    series.x.push_back(x);
    series.y.push_back(timings.at(place).median / (per_step ? x : 1));
  }
  for (auto& [key, series] : curves) panel.series.push_back(std::move(series));
  return panel;
}

void add_scaling(const Timings& timings, Summary& summary) {
  Figure figure{.name = "scaling",
                .caption = "Scaling with the number of chains and with the size of the model.",
                .columns = 2};
  for (Panel panel :
       {scaling_panel(timings, kChainScaling, "chains", "µs per sweep and chain", true),
        scaling_panel(timings, kSizeScaling, "units on each side", "µs per sweep", false)})
    if (!panel.series.empty()) figure.panels.push_back(std::move(panel));
  if (!figure.panels.empty()) summary.add(std::move(figure));
}

// A ratio to a NumPy that nobody in need of speed would use flatters: a line instead.
void tell_of_numpy(const Timings& timings, const Json& context, Summary& summary) {
  const auto timed = [&](const char* name) {
    return std::any_of(timings.places().begin(), timings.places().end(),
                       [&](const Place& place) { return place.contender == name; });
  };
  const std::string numpy = context.value("numpy", "not installed");
  if (timed(kNumpy))
    summary.note("The peer is " + numpy + ".");
  else
    summary.note(fmt::format("No ratio to NumPy: {}. {}",
                             timed(kSlowNumpy) ? "it is " + numpy : "it was not timed",
                             kInstallNumpy));
}

Json read_bench(const std::string& file) {
  Json bench = Json::parse(read_text(file), nullptr, false);
  if (!bench.is_object() || !bench.contains("benchmarks") || !bench.contains("context"))
    throw DataError(file + ": is not of Google Benchmark (must be written by `make bench`)");
  return bench;
}

}  // namespace

void write_page(const std::string& folder) {
  const Json bench = read_bench(folder + "/bench.json");
  const Timings timings(bench);
  Section section;
  tell_of_numpy(timings, bench["context"], section.summary);
  add_ratios(timings, section.summary);
  add_scaling(timings, section.summary);
  add_table(timings, section.summary);
  draw_section(section, folder);
  Json facts = Json::object();
  for (const char* key : {"date", "revision", "cpu", "compiler", "simd", "num_cpus", "numpy"})
    if (bench["context"].contains(key)) facts[key] = bench["context"][key];
  write_text(folder + "/speed.html", render_page("Speed", section, facts));
}

}  // namespace boltzmark::speed
