// SPDX-License-Identifier: Apache-2.0
// Explanation: why a pod waits, or why a node is as it is and may not be drained, and what would
// change that. Values only: the explain_*.h beside this make them, and `berth why` prints them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "controller/core/plan.h"
#include "controller/explain/rights.h"

namespace berth {

inline constexpr char kWhyApiVersion[] = "why.gpu.berth.dev/v1";

struct Explanation {
  // One thing that was found. Those about the same objects' fate stand in one.
  struct Fact {
    std::string topic;               // "pool", "rollout", "drain", "full"; lower case, one word
    std::string reason;              // UpperCamelCase, for scripts; empty: nothing to act on
    std::string message;             // a clause for people
    std::vector<std::string> nodes;  // whom it is about, if not the subject
  };
  // What would change it.
  struct Remedy {
    std::string message;
    std::string line;                // what to write or to type, a line or more; may be empty
    std::vector<std::string> nodes;  // that would take the pod then; empty: not by this alone
  };

  ObjectRef subject;
  std::string state;    // "Pending", "Running", "UpToDate", "Draining", …
  std::string reason;   // UpperCamelCase; empty: all is well
  std::string message;  // the answer in a sentence
  std::vector<Fact> facts;
  std::vector<Remedy> remedies;  // those that suffice before all others
  MissingRights rights;          // what the answer does without

  void add(std::string topic, std::string text, std::string why = {},
           std::vector<std::string> about = {}) {
    facts.push_back({std::move(topic), std::move(why), std::move(text), std::move(about)});
  }
};

std::string print_text(const Explanation& explanation);
std::string print_json(const Explanation& explanation);

// Of everything that waits: a line each.
struct WaitingList {
  std::string where;  // "namespace vision", "all namespaces"
  bool of_all_namespaces = false;
  std::vector<Explanation> items;
  std::vector<std::string> not_listed;  // resources of which more may wait, that may not be read
  MissingRights rights;
};
std::string print_text(const WaitingList& list);
std::string print_json(const WaitingList& list);

}  // namespace berth
