// SPDX-License-Identifier: Apache-2.0
#include "tests/examples/example.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "apis/base/names.h"
#include "apis/codec/decode.h"
#include "controller/fleet/pools.h"
#include "tests/support/manifest_cases.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

constexpr std::array kWords = {"added", "refused", "warned", "why", "helps", "stalled"};

// The labels of feature discovery and the operator on a node with four whole GPUs.
constexpr std::array<std::pair<const char*, const char*>, 10> kFeatures = {{
    {"nvidia.com/gpu.present", "true"},
    {"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB"},
    {"nvidia.com/gpu.count", "4"},
    {"nvidia.com/gpu.memory", "81920"},
    {"nvidia.com/gpu.replicas", "1"},
    {"nvidia.com/gpu.sharing-strategy", "none"},
    {"nvidia.com/mig.capable", "true"},
    {"nvidia.com/mig.strategy", "mixed"},
    {"nvidia.com/mig.config", "all-disabled"},
    {"nvidia.com/mig.config.state", "success"},
}};

void read_comment(const std::string& line, std::string& open, Example& example) {
  if (line.starts_with("#   ") && !open.empty()) {
    example.claims[open] += " " + line.substr(4);
    return;
  }
  const std::size_t colon = line.find(": ");
  open = colon == line.npos ? "" : line.substr(2, colon - 2);
  if (std::ranges::find(kWords, open) == kWords.end())
    open.clear();
  else
    example.claims[open] = line.substr(colon + 2);
}

Example read_example(const std::string& text, const std::string& path) {
  Example example;
  std::istringstream lines(text);
  std::string open;
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("# ")) read_comment(line, open, example);
  const Manifest manifest = parse_manifest(text, path);
  for (const Finding& finding : manifest.findings) throw std::runtime_error(format(finding));
  if (manifest.documents.size() > 1) throw std::runtime_error(path + ": --- is not on its own");
  if (!manifest.documents.empty()) example.document = manifest.documents.front();
  return example;
}

template <class T>
void add(ClusterState& cluster, std::string json) {
  Result<T> object = decode_object<T>(json);
  if (!object) throw std::runtime_error(describe(object.error()));
  if constexpr (std::is_same_v<T, Namespace>)  // like the API server
    object->meta.labels.set("kubernetes.io/metadata.name", Text(object->meta.name));
  cluster.upsert(*object, Time());
}

}  // namespace

std::string Example::claim(const std::string& word) const {
  const auto it = claims.find(word);
  return it == claims.end() ? "" : it->second;
}

std::vector<Example> read_examples(const std::string& path) {
  std::vector<Example> examples;
  std::string text;
  const auto finish = [&] {
    Example example = read_example(text, path);
    if (!example.document.kind.empty()) examples.push_back(std::move(example));
    text.clear();
  };
  std::istringstream in(read_file(source_dir() + "/examples/" + path));
  for (std::string line; std::getline(in, line);) {
    if (line == "---")
      finish();
    else
      text += line + "\n";
  }
  finish();
  return examples;
}

ClusterState cluster_of(const std::vector<std::string>& paths) {
  ClusterState cluster;
  for (const std::string& path : paths)
    for (const Example& example : read_examples(path)) {
      const std::string& kind = example.document.kind;
      if (kind == "Namespace") add<Namespace>(cluster, example.document.json);
      if (kind == "MIGLayout") add<MIGLayout>(cluster, example.document.json);
      if (kind == "GPUQueue") add<GPUQueue>(cluster, example.document.json);
      if (kind == "GPUClusterPolicy") add<GPUClusterPolicy>(cluster, example.document.json);
    }
  return cluster;
}

void add_pool_node(ClusterState& cluster, const std::string& name, const std::string& pool,
                   const std::string& resource, std::int64_t count) {
  Node node;
  node.meta.name = name;
  node.meta.uid = "uid-" + name;
  node.ready = true;
  for (const auto& [key, value] : kFeatures) node.meta.labels.set(key, value);
  for (const PoolSpec& spec : find_policy(cluster)->spec.pools) {
    if (spec.name != pool) continue;
    for (const auto& [key, value] : spec.node_selector.match_labels)
      node.meta.labels.set(key.view(), value.view());
    for (const auto& [key, value] : spec.labels) node.meta.labels.set(key.view(), value.view());
    node.meta.labels.set(names::kPoolLabel, pool);
    node.taints = spec.taints;
  }
  node.allocatable = node.capacity = {{Text(resource), Quantity::whole(count)}};
  cluster.upsert(node, Time());
}

}  // namespace berth::test
