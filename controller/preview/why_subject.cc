// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/why_subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "apis/nearest_name.h"
#include "controller/preview/words.h"

namespace berth {
namespace {

Error not_found(std::string where, std::string message) {
  return Error{
      .kind = ErrorKind::kNotFound, .message = std::move(message), .where = std::move(where)};
}

bool is_word(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, text) != words.end();
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(name, known);
  return nearest.empty() ? std::string() : fmt::format("; did you mean {}?", nearest);
}

Result<Subject> find_node(const ClusterState& cluster, std::string_view name) {
  if (const Node* node = cluster.nodes().find(name)) return Subject{.node = node};
  std::vector<std::string> known;
  for (const auto& node : cluster.nodes()) known.push_back(node->meta.name);
  return not_found(fmt::format("node/{}", name),
                   "there is no such node" + did_you_mean(name, known));
}

// Who looks for a workload's name wants one of its pods.
std::string pods_of(const std::vector<std::string>& pods, std::string_view name) {
  std::vector<std::string> theirs;
  for (const std::string& pod : pods)
    if (pod.starts_with(name) && pod.size() > name.size() && pod[name.size()] == '-')
      theirs.push_back(pod);
  return theirs.empty() ? std::string() : fmt::format("; there is {}", name_some(theirs, "pod"));
}

Result<Subject> find_pod(const ClusterState& cluster, std::string_view namespace_,
                         std::string_view name) {
  if (const Pod* pod = cluster.pods().find(namespace_, name)) return Subject{.pod = pod};
  std::vector<std::string> known, elsewhere;
  for (const auto& pod : cluster.pods()) {
    if (pod->meta.namespace_ == namespace_) known.push_back(pod->meta.name);
    if (pod->meta.name == name) elsewhere.push_back(key_of(pod->meta).str());
  }
  std::string hint = pods_of(known, name);
  if (hint.empty() && !elsewhere.empty())
    hint = fmt::format("; there is {}", name_some(elsewhere, "pod"));
  if (hint.empty()) hint = did_you_mean(name, known);
  return not_found(fmt::format("pod/{} in namespace {}", name, namespace_),
                   fmt::format("there is no such pod among those that ask for GPUs or run on nodes "
                               "with GPUs{}",
                               hint));
}

// One that waits says most of its Job; else the newest does.
bool tells_more(const Pod& pod, const Pod& than) {
  const auto rank = [](const Pod& p) {
    return std::make_tuple(!p.finished() && p.node_name.empty(), !p.finished(),
                           p.meta.creation_timestamp);
  };
  return rank(pod) > rank(than);
}

Result<Subject> find_pod_of_job(const ClusterState& cluster, std::string_view namespace_,
                                std::string_view name) {
  const Pod* best = nullptr;
  std::vector<std::string> known;
  for (const auto& pod : cluster.pods()) {
    const OwnerReference* owner = pod->meta.controller();
    if (owner == nullptr || owner->kind != "Job" || pod->meta.namespace_ != namespace_) continue;
    known.emplace_back(owner->name.view());
    if (owner->name == name && (best == nullptr || tells_more(*pod, *best))) best = pod.get();
  }
  if (best != nullptr) return Subject{.pod = best};
  return not_found(
      fmt::format("job/{} in namespace {}", name, namespace_),
      fmt::format("no pod of such a Job asks for GPUs or runs on a node with GPUs{}; if "
                  "it has made none, its events say why: kubectl describe job -n {} {}",
                  did_you_mean(name, known), namespace_, name));
}

}  // namespace

Result<Subject> find_subject(const ClusterState& cluster, std::string_view text,
                             std::string_view namespace_) {
  const std::size_t slash = text.find('/');
  if (slash == text.npos) {
    if (cluster.nodes().find(text) != nullptr || text.empty()) return find_node(cluster, text);
    Result<Subject> pod = find_pod(cluster, namespace_, text);
    if (pod) return pod;
    std::vector<std::string> nodes;
    for (const auto& node : cluster.nodes()) nodes.push_back(node->meta.name);
    Error error = std::move(pod).error();
    if (error.message.find(';') == std::string::npos) error.message += did_you_mean(text, nodes);
    error.where =
        fmt::format("{} is no node's name, and pod/{} in namespace {}", text, text, namespace_);
    return error;
  }
  const std::string_view first = text.substr(0, slash), rest = text.substr(slash + 1);
  if (is_word(first, {"node", "nodes", "no", "Node"})) return find_node(cluster, rest);
  const bool of_job = is_word(first, {"job", "jobs", "Job"});
  if (!of_job && !is_word(first, {"pod", "pods", "po", "Pod"}))
    return find_pod(cluster, first, rest);
  const std::size_t second = rest.find('/');
  const bool bare = second == rest.npos;
  const auto find = of_job ? find_pod_of_job : find_pod;
  return find(cluster, bare ? namespace_ : rest.substr(0, second),
              bare ? rest : rest.substr(second + 1));
}

}  // namespace berth
