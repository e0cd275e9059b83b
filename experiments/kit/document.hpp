#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/kit/claims.hpp"
#include "experiments/kit/run/plan.hpp"
#include "experiments/kit/summary.hpp"

namespace boltzmark::experiments {

/// A planned trial that is not finished.
struct OpenTrial {
  Json inputs;
  double seconds = 0;  ///< as estimated of 2 cores
};

/// One experiment of a report.
struct Section {
  const Experiment* experiment = nullptr;
  Summary summary = {};
  std::map<std::string, std::vector<std::string>> pictures = {};  ///< figure's name -> SVG texts
  std::vector<std::string> problems = {};  ///< what could not be summarised or drawn
  std::size_t planned = 0, finished = 0, stale = 0;
  std::string run = {};  ///< what was run, by run_text
  std::vector<OpenTrial> open = {};
  double seconds = 0;                               ///< of its finished trials, summed
  std::map<std::string, std::size_t> origins = {};  ///< "revision 1a2b, AVX2" -> trials
};

/// The claims of one paper, judged.
struct PaperVerdicts {
  ClaimFile file;
  std::vector<JudgedClaim> claims = {};
};

/// Everything that a report shows.
struct Document {
  Profile profile = Profile::quick;
  std::vector<Section> sections = {};
  std::vector<const Experiment*> missing = {};  ///< registered, without results in this folder
  std::vector<PaperVerdicts> papers = {};       ///< those with a section
  bool has_speed_page = false;
  Json manifest = nullptr;
};

/// Summarises one experiment, from the plan of the one that makes its trials, and writes its CSV
/// and SVG files into its folder.
/// What fails is noted in the section, so that one experiment cannot spoil a report.
Section make_section(const Experiment& experiment, const PlannedExperiment& plan, Profile profile,
                     const std::string& folder);

/// Writes the CSV and SVG files of a section's summary into a folder and fills its pictures; files
/// of that kind that it has not written go.
void draw_section(Section& section, const std::string& folder);

/// Writes one section without an experiment as a page of its own, the files of its tables and
/// figures beside it.  facts: what the page's foot lists, by name
std::string render_page(const std::string& title, const Section& section, const Json& facts);

/// The page that `make bench` leaves in a folder of results; the report links to it.
inline constexpr const char* kSpeedPage = "bench/speed.html";

/// Writes the pages of a report, by file name: index.html, the opening page that a busy reader
/// needs, and one page a paper. They link to each other and to data that they carry.
std::map<std::string, std::string> render_html(const Document& document);
std::string render_markdown(const Document& document);
/// Writes claims.json: an array with one object per claim, its parts inside.
Json claims_json(const Document& document);

/// How many claims have a verdict, those apart whose form changed after a result.
struct Tally {
  int registered = 0;  ///< judged as they were registered
  int changed = 0;
};

/// Counts the verdicts of a paper, for the front page.
std::map<Verdict, Tally> count_verdicts(const PaperVerdicts& paper);
/// Writes a count of it: "14 + 2 undecided, 5 of them not run": 14 judged as registered, 2 changed
/// after a result; not run are claims without any measure.
std::string tally_text(const PaperVerdicts& paper, Verdict verdict, const Tally& tally);
/// Explains the sum, and names the claims in it that are none of the paper's; empty if no claim changed and all are
/// the paper's.
std::string tally_key(const PaperVerdicts& paper);

/// Says what was run, from the finished trials, against what was planned: how many trials, the
/// values of each of their inputs, the repeats of each cell.
std::string run_text(const Results& results);

/// Writes the sentence on which trials a section rests: "30 of 30 trials, revision ...".
std::string origin_text(const Section& section);

}  // namespace boltzmark::experiments
