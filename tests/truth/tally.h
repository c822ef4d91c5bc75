// SPDX-License-Identifier: Apache-2.0
// Tally: how often each verb was tried on each kind, and the real server's answers.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/truth/side.h"

namespace berth::truth {

class Tally {
 public:
  void add(const Script& script, const std::vector<Exchange>& exchanges);
  std::string table() const;
  std::string codes() const;
  // "evict nodes" and similar pairs do not exist; the smallest count of all others.
  int smallest() const;
  // A line for each verb on each kind that was tried less often.
  std::string shortfalls(int least) const;

 private:
  int count(Verb verb, std::string_view plural) const;

  std::map<std::pair<Verb, std::string>, int> counts_;
  std::map<std::string, int> dry_runs_;
  std::map<Verb, std::map<int, int>> codes_;
};

}  // namespace berth::truth
