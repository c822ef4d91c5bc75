// SPDX-License-Identifier: Apache-2.0
// Answers: what the API server said to asks, guards and writes, kept in memory for a minute or two.
// Part of the snapshot, so that the pure core learns why a node cannot be emptied and chooses
// another. A lost answer is asked again: a crash costs nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "apis/result.h"
#include "apis/time.h"

namespace berth {

struct Answer {
  bool yes = false;
  // When no: the server's words, by kind and reason. A 429 with cause DisruptionBudget is a state,
  // not an error.
  Error error;
  std::string against;  // resourceVersion of the object as cached when it was asked
  Time at{};
  // Of a write alone: the object, who wrote it, and what for (refused_write.h).
  std::string object;
  std::string field_manager;
  std::string reason;
  // Of a no: how often in a row it was said, and since when.
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
  // Of what was sent and not answered nobody knows whether it takes effect yet.
  void forget(const std::string& question) { answers_.erase(question); }
  // Nothing if it was never asked or the answer is older than ttl.
  const Answer* find(std::string_view question, Time now, Duration ttl) const {
    auto it = answers_.find(question);
    return it == answers_.end() || now - it->second.at > ttl ? nullptr : &it->second;
  }
  void forget_before(Time time) {
    std::erase_if(answers_, [&](const auto& entry) { return entry.second.at < time; });
  }
  std::size_t size() const { return answers_.size(); }
  auto begin() const { return answers_.begin(); }  // (question, answer), in the questions' order
  auto end() const { return answers_.end(); }

 private:
  std::map<std::string, Answer, std::less<>> answers_;
};

}  // namespace berth
