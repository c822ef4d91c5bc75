// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "apis/base/nearest_name.h"
#include "controller/preview/words.h"

namespace berth {
namespace {

using Kind = SubjectName::Kind;

constexpr char kKinds[] = "pod, node, deploy, rs, sts, job, cronjob or migl";

Error not_found(std::string where, std::string message) {
  return Error{
      .kind = ErrorKind::kNotFound, .message = std::move(message), .where = std::move(where)};
}

struct KindWord {
  Kind kind;
  std::string_view workload;
  std::vector<std::string_view> words;
};

const std::vector<KindWord>& kind_words() {
  static const std::vector<KindWord> kWords = {
      {Kind::kPod, "", {"pod", "pods", "po"}},
      {Kind::kNode, "", {"node", "nodes", "no"}},
      {Kind::kLayout,
       "",
       {"miglayout", "miglayouts", "migl", "miglayout.gpu.berth.dev", "miglayouts.gpu.berth.dev"}},
      {Kind::kWorkload,
       "Deployment",
       {"deployment", "deployments", "deploy", "deployment.apps", "deployments.apps"}},
      {Kind::kWorkload,
       "ReplicaSet",
       {"replicaset", "replicasets", "rs", "replicaset.apps", "replicasets.apps"}},
      {Kind::kWorkload,
       "StatefulSet",
       {"statefulset", "statefulsets", "sts", "statefulset.apps", "statefulsets.apps"}},
      {Kind::kWorkload, "Job", {"job", "jobs", "job.batch", "jobs.batch"}},
      {Kind::kWorkload,
       "CronJob",
       {"cronjob", "cronjobs", "cj", "cronjob.batch", "cronjobs.batch"}},
  };
  return kWords;
}

// Like kubectl, ignores case.
const KindWord* kind_of(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const KindWord& kind : kind_words())
    if (std::ranges::find(kind.words, lower) != kind.words.end()) return &kind;
  return nullptr;
}

// "deployment" for Deployment; empty for an unknown kind.
std::string_view word_of(std::string_view workload) {
  for (const KindWord& kind : kind_words())
    if (kind.workload == workload && !workload.empty()) return kind.words.front();
  return {};
}

std::string did_you_mean(std::string_view name, const std::vector<std::string>& known) {
  const std::string nearest = nearest_name(name, known);
  return nearest.empty() ? std::string() : fmt::format("; did you mean {}?", nearest);
}

// "deployment/nb": every workload with that name.
std::vector<std::string> workloads_named(const ClusterState& cluster, const Clues& clues,
                                         std::string_view namespace_, std::string_view name) {
  std::vector<std::string> out;
  const auto add = [&](std::string_view kind) {
    const std::string_view word = word_of(kind);
    if (word.empty()) return;
    std::string text = fmt::format("{}/{}", word, name);
    if (std::ranges::find(out, text) == out.end()) out.push_back(std::move(text));
  };
  for (const Workload& workload : clues.workloads)
    if (workload.namespace_ == namespace_ && workload.name == name) add(workload.kind);
  if (cluster.jobs().find(namespace_, name) != nullptr) add("Job");
  for (const auto& pod : cluster.pods()) {
    const OwnerReference* owner = pod->meta.controller();
    if (owner != nullptr && pod->meta.namespace_ == namespace_ && owner->name == name)
      add(owner->kind.view());
  }
  return out;
}

class SubjectSearch {
 public:
  SubjectSearch(const ClusterState& cluster, const Clues& clues, const SubjectName& name)
      : cluster_(cluster), clues_(clues), asked_(name) {}
  Result<Subject> find();

 private:
  Result<Subject> find_node() const;
  Result<Subject> find_layout() const;
  Result<Subject> find_pod() const;
  Result<Subject> find_workload(const WorkloadName& workload) const;
  Result<Subject> find_cron_job() const;
  Result<Subject> find_any() const;
  std::string pod_hint() const;
  // If the account could not read a kind, the object may still exist.
  std::string reservation(std::string_view resource) const;

  const ClusterState& cluster_;
  const Clues& clues_;
  const SubjectName& asked_;
};

Result<Subject> SubjectSearch::find() {
  switch (asked_.kind) {
    case Kind::kNode:
      return find_node();
    case Kind::kPod:
      return find_pod();
    case Kind::kLayout:
      return find_layout();
    case Kind::kWorkload:
      if (asked_.workload == "CronJob") return find_cron_job();
      return find_workload({asked_.workload, asked_.namespace_, asked_.name});
    case Kind::kAny:
      return find_any();
  }
  return find_any();
}

std::string SubjectSearch::reservation(std::string_view resource) const {
  const Unread* unread = clues_.find_unread(resource);
  if (unread == nullptr || unread->instead == asked_.namespace_) return {};
  return fmt::format("; this account may not read {}: {}", resource, unread->message);
}

Result<Subject> SubjectSearch::find_node() const {
  if (const Node* node = cluster_.nodes().find(asked_.name)) return Subject{.node = node};
  std::vector<std::string> known;
  for (const auto& node : cluster_.nodes()) known.push_back(node->meta.name);
  const std::string unread = reservation("nodes");
  return not_found(fmt::format("node/{}", asked_.name),
                   unread.empty() ? "there is no such node" + did_you_mean(asked_.name, known)
                                  : "is not known" + unread);
}

Result<Subject> SubjectSearch::find_layout() const {
  if (const MIGLayout* layout = cluster_.mig_layouts().find(asked_.name))
    return Subject{.layout = layout};
  std::vector<std::string> known;
  for (const auto& layout : cluster_.mig_layouts()) known.push_back(layout->meta.name);
  const std::string unread = reservation("miglayouts.gpu.berth.dev");
  return not_found(fmt::format("miglayout/{}", asked_.name),
                   unread.empty() ? "there is no such MIGLayout" + did_you_mean(asked_.name, known)
                                  : "is not known" + unread);
}

// A user who types a workload's name means the workload or one of its pods.
std::string SubjectSearch::pod_hint() const {
  const std::vector<std::string> workloads =
      workloads_named(cluster_, clues_, asked_.namespace_, asked_.name);
  if (!workloads.empty())
    return fmt::format("; there is {}: berth why -n {} {}",
                       fmt::format("{}", fmt::join(workloads, ", ")), asked_.namespace_,
                       workloads.front());
  std::vector<std::string> known, elsewhere, theirs;
  for (const auto& pod : cluster_.pods()) {
    if (pod->meta.namespace_.view() == asked_.namespace_) known.push_back(pod->meta.name);
    if (pod->meta.name == asked_.name) elsewhere.push_back(key_of(pod->meta).str());
  }
  for (const std::string& pod : known)
    if (pod.starts_with(asked_.name + "-") && !asked_.name.empty()) theirs.push_back(pod);
  if (!theirs.empty()) return fmt::format("; there is {}", name_some(theirs, "pod"));
  if (!elsewhere.empty()) return fmt::format("; there is {}", name_some(elsewhere, "pod"));
  return did_you_mean(asked_.name, known);
}

Result<Subject> SubjectSearch::find_pod() const {
  if (const Pod* pod = cluster_.pods().find(asked_.namespace_, asked_.name))
    return Subject{.pod = pod};
  const std::string unread = reservation("pods");
  return not_found(
      fmt::format("pod/{} in namespace {}", asked_.name, asked_.namespace_),
      (unread.empty() ? "there is no such pod" : "is not known") + pod_hint() + unread);
}

// A pending pod says most about its workload, else the newest one.
bool tells_more(const Pod& pod, const Pod& than) {
  const auto rank = [](const Pod& p) {
    return std::make_tuple(!p.finished() && p.node_name.empty(), !p.finished(),
                           p.meta.creation_timestamp);
  };
  return rank(pod) > rank(than);
}

// Its pending Job, else its newest one.
Result<Subject> SubjectSearch::find_cron_job() const {
  const auto rank = [](const Job& job) {
    return std::make_tuple(job.suspended && !job.finished, !job.finished,
                           job.meta.creation_timestamp);
  };
  const Job* best = nullptr;
  for (const auto& job : cluster_.jobs()) {
    const OwnerReference* owner = job->meta.controller();
    if (owner == nullptr || owner->kind != "CronJob" || owner->name.view() != asked_.name ||
        job->meta.namespace_.view() != asked_.namespace_)
      continue;
    if (best == nullptr || rank(*job) > rank(*best)) best = job.get();
  }
  if (best != nullptr) return find_workload({"Job", asked_.namespace_, best->meta.name});
  return not_found(
      fmt::format("CronJob {} in namespace {}", asked_.name, asked_.namespace_),
      fmt::format("no Job of such a CronJob is known here; when it makes one: kubectl describe "
                  "cronjob -n {} {}{}",
                  asked_.namespace_, asked_.name, reservation("jobs.batch")));
}

Result<Subject> SubjectSearch::find_workload(const WorkloadName& workload) const {
  const Pod* best = nullptr;
  for (const Pod* pod : pods_of(cluster_, clues_, workload))
    if (best == nullptr || tells_more(*pod, *best)) best = pod;
  const bool waits = best != nullptr && best->node_name.empty() && !best->finished();
  const bool refused = !refusal_of(clues_, workload).empty();
  const Job* of_name =
      workload.kind == "Job" ? cluster_.jobs().find(workload.namespace_, workload.name) : nullptr;
  // A suspended Job waits, whatever pods of its last run have not left yet.
  if (best != nullptr && best->terminating() && of_name != nullptr && of_name->suspended)
    return Subject{.workload = workload};
  if (best != nullptr && (waits || !refused)) return Subject{.pod = best};
  if (refused || exists(cluster_, clues_, workload)) return Subject{.workload = workload};

  std::vector<std::string> known;
  for (const Workload& other : clues_.workloads)
    if (other.kind == workload.kind && other.namespace_ == workload.namespace_)
      known.push_back(other.name);
  for (const auto& pod : cluster_.pods())
    if (const OwnerReference* owner = pod->meta.controller();
        owner != nullptr && owner->kind.view() == workload.kind &&
        pod->meta.namespace_.view() == workload.namespace_)
      known.emplace_back(owner->name.view());
  for (const auto& job : cluster_.jobs())
    if (workload.kind == "Job" && job->meta.namespace_.view() == workload.namespace_)
      known.push_back(job->meta.name);
  return not_found(
      fmt::format("{} {} in namespace {}", workload.kind, workload.name, workload.namespace_),
      fmt::format("there is no such {}, or nothing of it is known here{}; if there is one, its "
                  "events say more: kubectl describe {} -n {} {}{}",
                  workload.kind, did_you_mean(workload.name, known), word_of(workload.kind),
                  workload.namespace_, workload.name,
                  reservation(fmt::format("{}s.{}", word_of(workload.kind),
                                          workload.kind == "Job" ? "batch" : "apps"))));
}

Result<Subject> SubjectSearch::find_any() const {
  if (asked_.name.empty() || cluster_.nodes().find(asked_.name) != nullptr) return find_node();
  Result<Subject> pod = find_pod();
  if (pod) return pod;
  Error error = std::move(pod).error();
  std::vector<std::string> nodes;
  for (const auto& node : cluster_.nodes()) nodes.push_back(node->meta.name);
  if (error.message.find(';') == std::string::npos)
    error.message += did_you_mean(asked_.name, nodes);
  if (clues_.knows("nodes"))
    error.where = fmt::format("{} is no node's name, and {}", asked_.name, error.where);
  return error;
}

// "NAMESPACE/NAME", or a bare name in the default namespace.
SubjectName named(Kind kind, std::string_view workload, std::string_view text,
                  std::string_view namespace_) {
  const std::size_t slash = text.find('/');
  if (slash != text.npos) {
    namespace_ = text.substr(0, slash);
    text = text.substr(slash + 1);
  }
  return {.kind = kind,
          .workload = std::string(workload),
          .namespace_ = std::string(namespace_),
          .name = std::string(text)};
}

}  // namespace

Result<SubjectName> parse_subject(const std::vector<std::string>& words,
                                  std::string_view namespace_) {
  if (words.size() > 2)
    return invalid_spec("SUBJECT", fmt::format("\"{}\" is one word too many: KIND NAME, with KIND "
                                               "{}",
                                               words[2], kKinds));
  if (words.empty()) return invalid_spec("SUBJECT", "name a pod, a workload, a node or a layout");
  const std::string_view first = words.front();
  if (words.size() == 2) {
    const KindWord* kind = kind_of(first);
    if (kind == nullptr)
      return invalid_spec(
          "SUBJECT", fmt::format("\"{}\" is no kind that berth explains; write {}", first, kKinds));
    return named(kind->kind, kind->workload, words[1], namespace_);
  }
  const std::size_t slash = first.find('/');
  if (slash == first.npos) return named(Kind::kAny, "", first, namespace_);
  if (const KindWord* kind = kind_of(first.substr(0, slash)))
    return named(kind->kind, kind->workload, first.substr(slash + 1), namespace_);
  return named(Kind::kPod, "", first, namespace_);
}

Result<Subject> find_subject(const ClusterState& cluster, const Clues& clues,
                             const SubjectName& name) {
  return SubjectSearch(cluster, clues, name).find();
}

}  // namespace berth
