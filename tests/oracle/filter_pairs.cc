// SPDX-License-Identifier: Apache-2.0
// filter_pairs NUMBER [SEED]: random pairs of a pod and a node, a line of JSON each, with what
// berth says of them. tests/apiserver/tools/filters asks kube-scheduler's own plugins about the
// same.
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>

#include "apis/codec/decode.h"
#include "controller/core/cluster_state.h"
#include "controller/fleet/fit.h"
#include "tests/oracle/random_pair.h"

namespace berth::oracle {
namespace {

using nlohmann::json;

template <class T>
T decoded(const json& object) {
  std::string text = object.dump();
  auto result = decode_object<T>(text);
  if (!result) {
    std::cerr << "filter_pairs: " << describe(result.error()) << ": " << object.dump() << "\n";
    std::exit(2);
  }
  return *std::move(result);
}

// In the words of the plugins' judge. A cordon counts for berth whoever tolerates it: a node that
// is out of service is offered to nobody. So it is told here only of who doesn't.
json obstacles(const Pair& pair) {
  ClusterState cluster;
  cluster.upsert(decoded<Node>(pair.node), Time());
  for (const json& pod : pair.pods) cluster.upsert(decoded<Pod>(pod), Time());
  const Pod pod = decoded<Pod>(pair.pod);
  const Fit fit(cluster);
  json words = json::array();
  for (const Fit::Verdict verdict : fit.obstacles(pod, "n1")) {
    if (verdict == Fit::Verdict::kCordoned && !tolerates_cordon(pod)) words.push_back("cordon");
    if (verdict == Fit::Verdict::kNotSelected) words.push_back("selection");
    if (verdict == Fit::Verdict::kTainted) words.push_back("taints");
    if (verdict == Fit::Verdict::kLacksGpu || verdict == Fit::Verdict::kFull)
      words.push_back("room");
  }
  return words;
}

}  // namespace

static std::string line_of(const Pair& pair) {
  const json line = {
      {"node", pair.node}, {"pods", pair.pods}, {"pod", pair.pod}, {"berth", obstacles(pair)}};
  return line.dump();
}

}  // namespace berth::oracle

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: filter_pairs NUMBER [SEED]\n";
    return 2;
  }
  berth::oracle::RandomPair random(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  for (long left = std::atol(argv[1]); left > 0; --left)
    std::cout << berth::oracle::line_of(random.next()) << "\n";
}
