// SPDX-License-Identifier: Apache-2.0
// Explanation: why a pod waits, or why a node is in its state or can't be drained, and what would
// change that. Values only: the explain_*.h files make them, and `berth why` prints them.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "controller/core/plan.h"
#include "controller/explain/rights.h"

namespace berth {

inline constexpr char kWhyApiVersion[] = "why.gpu.berth.dev/v1";

struct Explanation {
  // One finding. One fact covers all objects with the same finding.
  struct Fact {
    std::string topic;               // "pool", "rollout", "drain", "full": one lower-case word
    std::string reason;              // UpperCamelCase, for scripts; empty: no action needed
    std::string message;             // a clause for users
    std::vector<std::string> nodes;  // the nodes that it is about, if not the subject
  };
  // One way to change the answer.
  struct Remedy {
    std::string message;
    std::string line;  // text to write or command to type, one line or more; may be empty
    // nodes that would then take the pod; empty: this alone is not enough
    std::vector<std::string> nodes;
  };

  ObjectRef subject;
  std::string state;    // "Pending", "Running", "UpToDate", "Draining", …
  std::string reason;   // UpperCamelCase; empty: no problem
  std::string message;  // the answer in a sentence
  std::vector<Fact> facts;
  std::vector<Remedy> remedies;  // sufficient ones first
  MissingRights rights;          // what the account may not read

  void add(std::string topic, std::string text, std::string why = {},
           std::vector<std::string> about = {}) {
    facts.push_back({std::move(topic), std::move(why), std::move(text), std::move(about)});
  }
};

std::string print_text(const Explanation& explanation);
std::string print_json(const Explanation& explanation);

// One line for each waiting workload.
struct WaitingList {
  std::string where;  // "namespace vision", "all namespaces"
  bool of_all_namespaces = false;
  std::vector<Explanation> items;
  std::vector<std::string> not_listed;  // resources that the account may not list, so more may wait
  MissingRights rights;
};
std::string print_text(const WaitingList& list);
std::string print_json(const WaitingList& list);

}  // namespace berth
