// SPDX-License-Identifier: Apache-2.0
// ReviewFindings: what is wrong with an object, as refusals and warnings. If the policy says Warn,
// refusals become warnings.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/cut.h"

namespace berth {

struct ReviewFinding {
  std::string field;    // "spec.containers[0].resources.limits[nvidia.com/gpu]"
  std::string message;  // the rule, and the line to write instead
};

class ReviewFindings {
 public:
  enum class Mode { kEnforce, kWarn };
  explicit ReviewFindings(Mode mode) : mode_(mode) {}

  void refuse(std::string field, std::string message);
  void warn(std::string field, std::string message);

  bool refused() const { return !refusals_.list.empty(); }
  const std::vector<ReviewFinding>& refusals() const { return refusals_.list; }
  // Every refusal in one text.
  std::string denial() const;
  // For kubectl: each warning has at most 256 bytes, because the server truncates longer ones.
  std::vector<std::string> warnings() const;

 private:
  // Enough for a reader; the message counts the others.
  static constexpr std::size_t kMost = 12;
  struct List {
    std::vector<ReviewFinding> list;
    std::size_t more = 0;
  };
  static void add(List& to, std::string field, std::string message);

  Mode mode_;
  List refusals_;
  List warnings_;
};

// The beginning of a user's text, for a message, cut between characters.
inline std::string shorten(std::string_view text, std::size_t most = 64) { return cut(text, most); }

}  // namespace berth
