#pragma once

#include <optional>
#include <string>
#include <vector>

namespace boltzmark::experiments {

/// A message from another rank.
struct RankMessage {
  int from = 0;
  std::string bytes = {};
};

/// What is said last where `finish` cannot wait for silent ranks.
inline constexpr const char* kAllIsDone =
    "ranks are silent, but all is done: mpirun may be stopped if it does not end\n";

/// What connects the ranks of one program. For the thread that made it alone.
class RankLink {
 public:
  virtual ~RankLink() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;
  /// Counts the ranks on this one's host.
  virtual int ranks_on_host() const = 0;

  /// Gathers a text of every rank at rank 0; all must call it. Others get nothing.
  virtual std::vector<std::string> gather(const std::string& text) = 0;
  /// Returns rank 0's text at every rank; all must call it.
  virtual std::string broadcast(const std::string& text) = 0;

  /// Sends bytes, in the order of calls, without waiting.
  virtual void send(int to, std::string bytes) = 0;
  /// Returns a message that has come; none: there is none now.
  virtual std::optional<RankMessage> receive() = 0;

  /// Ends the ranks: rank 0 tells the others, and waits for those that are heard; others leave.
  /// If ranks are lost, or do not answer, this writes the farewell to stderr and ends all processes with
  /// the exit code. The last call.
  virtual void finish(int exit_code, bool all_heard, const std::string& farewell = {}) = 0;
  /// Ends this rank where something failed that the others may not know of, and wait for: unless they end
  /// too, rank 0 here as by `finish`, this writes the farewell to the launcher's stderr and ends all
  /// processes with the exit code. The last call.
  virtual void fail(int exit_code, const std::string& farewell) = 0;
  /// Tells whether rank 0 has called `finish`.
  virtual bool ended() const = 0;
};

}  // namespace boltzmark::experiments
