// SPDX-License-Identifier: Apache-2.0
// Answers: what the API server replied to asks, guards and writes. berth keeps them in memory for a
// minute or two. They are part of the snapshot, so that the pure core learns why a node can't be
// drained and chooses another. berth asks again for an answer that is lost: a crash costs nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "apis/base/result.h"
#include "apis/base/time.h"

namespace berth {

struct Answer {
  bool yes = false;
  // If no: the server's error, by kind and reason. A 429 with cause DisruptionBudget is a state,
  // not an error.
  Error error;
  std::string against;  // resourceVersion of the object as cached when berth asked
  Time at{};
  // Only for a write: the object, the field manager, and the purpose (refused_write.h).
  std::string object;
  std::string field_manager;
  std::string reason;
  // For a no: how many came in a row, and when the first of them came.
  int times = 1;
  Time since{};
};

class Answers {
 public:
  // `question` is a Step's question() and names the object's uid, so that a new object under an old
  // name is a new question.
  void put(std::string question, Answer answer) {
    Answer& standing = answers_[std::move(question)];
    const bool again = standing.at != Time{} && !standing.yes && !answer.yes;
    answer.times = again ? standing.times + 1 : 1;
    answer.since = again ? standing.since : answer.at;
    standing = std::move(answer);
  }
  // A request without an answer may or may not take effect, so berth drops the old answer too.
  void forget(const std::string& question) { answers_.erase(question); }
  // nullptr if berth never asked, or if the answer is older than ttl.
  const Answer* find(std::string_view question, Time now, Duration ttl) const {
    auto it = answers_.find(question);
    return it == answers_.end() || now - it->second.at > ttl ? nullptr : &it->second;
  }
  void forget_before(Time time) {
    std::erase_if(answers_, [&](const auto& entry) { return entry.second.at < time; });
  }
  std::size_t size() const { return answers_.size(); }
  auto begin() const { return answers_.begin(); }  // (question, answer), ordered by question
  auto end() const { return answers_.end(); }

 private:
  std::map<std::string, Answer, std::less<>> answers_;
};

}  // namespace berth
