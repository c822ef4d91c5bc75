// SPDX-License-Identifier: Apache-2.0
// Outline: it splits the message into clauses, each with a count of nodes. Each clause that a field
// of the pod causes becomes a fact. Then it adds what the scheduler has not checked: the scheduler
// checks taints before labels, and both before resources.
#include "controller/explain/scheduler_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "apis/base/reasons.h"
#include "controller/admission/pod_slice.h"
#include "controller/explain/node_groups.h"
#include "controller/preview/words.h"

namespace berth {
namespace {

struct Clause {
  std::string nodes;  // "3 nodes"
  std::string_view words;
};

// "0/3 nodes are available: 1 Insufficient nvidia.com/gpu, 2 node(s) had …. preemption: …"
std::vector<Clause> clauses_of(std::string_view message) {
  std::vector<Clause> out;
  constexpr std::string_view kIntroduction = "nodes are available: ";
  const std::size_t begin = message.find(kIntroduction);
  if (begin == message.npos) return out;
  message.remove_prefix(begin + kIntroduction.size());
  message = message.substr(0, message.find(". "));
  while (message.ends_with('.')) message.remove_suffix(1);
  while (!message.empty()) {
    const std::size_t end = std::min(message.find(", "), message.size());
    const std::string_view clause = message.substr(0, end);
    message.remove_prefix(std::min(end + 2, message.size()));
    const std::size_t space = clause.find(' ');
    const std::string_view count = clause.substr(0, space);
    if (space == clause.npos || count.find_first_not_of("0123456789") != count.npos) continue;
    out.push_back(
        {fmt::format("{} node{}", count, count == "1" ? "" : "s"), clause.substr(space + 1)});
  }
  return out;
}

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

std::string told(const Toleration& toleration) {
  std::string text = toleration.key.empty() ? "every key" : toleration.key.str();
  if (!toleration.value.empty()) text += fmt::format("={}", toleration.value.view());
  if (!toleration.effect.empty()) text += fmt::format(":{}", toleration.effect.view());
  return text;
}

// Kubernetes adds these two to every pod.
bool is_added(const Toleration& toleration) {
  return toleration.key == "node.kubernetes.io/not-ready" ||
         toleration.key == "node.kubernetes.io/unreachable";
}

std::string told_tolerations(const Pod& pod) {
  std::vector<std::string> words;
  for (const Toleration& toleration : pod.shape->tolerations)
    if (!is_added(toleration)) words.push_back(told(toleration));
  return words.empty() ? "has none" : fmt::format("has {}", fmt::join(words, ", "));
}

// Kubernetes before 1.36 names the taint: "untolerated taint {nvidia.com/gpu: present}".
std::optional<Taint> taint_in(std::string_view words) {
  const std::size_t open = words.find('{'), close = words.find('}', open);
  if (close == words.npos) return std::nullopt;
  const std::string_view inside = words.substr(open + 1, close - open - 1);
  const std::size_t colon = inside.find(": ");
  if (colon == inside.npos) return std::nullopt;
  return Taint{.key = inside.substr(0, colon), .value = inside.substr(colon + 2)};
}

void note_taint(const Pod& pod, const Clause& clause, Explanation& out) {
  const std::optional<Taint> taint = taint_in(clause.words);
  if (!taint) {
    out.add("field",
            fmt::format("spec.tolerations: {}, and {} taints that it does not tolerate",
                        told_tolerations(pod),
                        clause.nodes + (clause.nodes == "1 node" ? " has" : " have")),
            reasons::kNotTolerated);
    return;
  }
  if (is_kubernetes_own(*taint)) return;  // not caused by a field of the pod
  const std::string name = taint->value.empty()
                               ? taint->key.str()
                               : fmt::format("{}={}", taint->key.view(), taint->value.view());
  const std::string where =
      fmt::format("{} {} tainted {}", clause.nodes, clause.nodes == "1 node" ? "is" : "are", name);
  std::string found =
      fmt::format("spec.tolerations: none for {}, and {}", taint->key.view(), where);
  for (std::size_t i = 0; i < pod.shape->tolerations.size(); ++i) {
    const Toleration& mine = pod.shape->tolerations[i];
    if (mine.key != taint->key) continue;
    found =
        mine.op != "Exists" && mine.value != taint->value
            ? fmt::format("spec.tolerations[{}].value: \"{}\", and {}", i, mine.value.view(), where)
            : fmt::format(
                  "spec.tolerations[{}].effect: {}, which is not the effect of taint "
                  "{} on {}",
                  i, mine.effect.view(), name, clause.nodes);
  }
  out.add("field", found, reasons::kNotTolerated);
}

std::string told_selector(const Pod& pod) {
  std::vector<std::string> words;
  for (const auto& [key, value] : pod.shape->node_selector)
    words.push_back(fmt::format("spec.nodeSelector[{}]: {}", key.view(), value.view()));
  if (!pod.shape->required_node_affinity.empty())
    words.push_back("spec.affinity.nodeAffinity: its required terms");
  return fmt::format("{}", fmt::join(words, "; "));
}

}  // namespace

std::string field_of(const PodClues* clues, std::string_view resource) {
  if (clues != nullptr)
    for (const ContainerClue& container : clues->containers)
      for (const auto& [name, count] : container.requests)
        if (name == resource)
          return fmt::format("{}.resources.limits[{}]", container.field, resource);
  return fmt::format("spec.containers[].resources.limits[{}]", resource);
}

void note_scheduler_fields(const Pod& pod, const PodClues& clues, Explanation& out) {
  bool selection_told = false, counted = false;
  for (const Clause& clause : clauses_of(clues.scheduler_says)) {
    if (has(clause.words, "untolerated taint") || has(clause.words, "taints that the pod")) {
      note_taint(pod, clause, out);
    } else if (has(clause.words, "node affinity/selector")) {
      out.add("field",
              fmt::format("{}, which {} {} not have", told_selector(pod), clause.nodes,
                          clause.nodes == "1 node" ? "does" : "do"),
              reasons::kNotSelected);
      selection_told = true;
    } else if (has(clause.words, "Insufficient ")) {
      const std::string_view resource = clause.words.substr(sizeof("Insufficient ") - 1);
      out.add("field",
              fmt::format("{}: {}; {} {} not so much of it left, or none",
                          field_of(&clues, resource), pod.shape->requests.get(resource).str(),
                          clause.nodes, clause.nodes == "1 node" ? "has" : "have"),
              "Insufficient");
      counted = true;
    }
  }
  const std::string selector = told_selector(pod);
  if (!selection_told && !counted && !selector.empty())
    out.add("field",
            selector +
                "; the scheduler looks at taints first and has not said whether any node "
                "has that",
            reasons::kNotJudged);
}

bool note_own_faults(const Pod& pod, const PodClues* clues, Explanation& out) {
  bool hopeless = false;
  for (const auto& [resource, count] : pod.shape->requests) {
    if (count.is_zero()) continue;
    if (resource == kLegacyGpu) {
      out.add("field",
              fmt::format("{}: this name ended with Kubernetes 1.11; write "
                          "nvidia.com/gpu: {}",
                          field_of(clues, resource.view()), count.str()),
              reasons::kLegacyResource);
      hopeless = true;
    }
    if (is_shared_resource(resource.view()) && count > Quantity::whole(1))
      out.add("field",
              fmt::format("{}: {} shares are no greater share of a GPU; write {}: 1",
                          field_of(clues, resource.view()), count.str(), resource.view()),
              "Shares");
  }
  if (clues == nullptr) return hopeless;
  for (const ContainerClue& container : clues->containers)
    if (container.visible_devices)
      out.add("field",
              fmt::format("{}.env[{}]: NVIDIA_VISIBLE_DEVICES bypasses the device plugin, which "
                          "sets it itself; remove it and ask for nvidia.com/gpu: 1",
                          container.field, *container.visible_devices),
              reasons::kPastThePlugin);
  return hopeless;
}

}  // namespace berth
