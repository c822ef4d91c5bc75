// SPDX-License-Identifier: Apache-2.0
// Outline: whether this account may release; what waits; the patch of each workload, which no quota
// is charged for; which nodes stay cordoned; the report.
#include "controller/cmd/commands/release.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "apis/base/names.h"
#include "apis/kinds/core.h"
#include "apis/kinds/gpu_cluster_policy.h"
#include "controller/client/api_client.h"
#include "controller/cmd/cluster/cluster_session.h"
#include "controller/cmd/line/console.h"
#include "controller/core/plural.h"
#include "controller/disruption/health_record.h"
#include "controller/queue/admit/release.h"
#include "controller/queue/index/facts_from.h"
#include "controller/queue/index/queue_choice.h"

namespace berth {
namespace {

struct Held {
  std::string name;  // "Job/team-a/train"
  KindInfo kind;
  ObjectKey key;
  std::string patch;
};

template <class T>
Held held(const T& object, const Write& write) {
  return {.name = write.object.str(),
          .kind = kKind<T>,
          .key = {object.meta.namespace_.str(), object.meta.name},
          .patch = write.body};
}

// Without a pool and without a charge: it is in no quota.
queue::AdmissionFact past_the_queue(const ObjectMeta& meta) {
  return {.uid = meta.uid,
          .queue = meta.labels.get(names::kQueueLabel).str(),
          .pool = std::string(queue::kAnyPool)};
}

void add_if_held(const Pod& pod, const queue::QueueChoice&, std::vector<Held>& out) {
  if (queue::is_gated(pod) && !pod.terminating())
    out.push_back(held(pod, queue::release_pod(pod, past_the_queue(pod.meta))));
}

// Adds the Job if it is in a queue: the one in its label, even if it does not exist, or its
// namespace's default. It leaves Jobs that a user holds back.
void add_if_held(const Job& job, const queue::QueueChoice& choice, std::vector<Held>& out) {
  if (!job.suspended || job.finished || queue::is_left_to_kueue(job.meta)) return;
  if (job.meta.annotations.contains(names::kHoldAnnotation)) return;
  const OwnerReference* owner = job.meta.controller();
  if (owner != nullptr && owner->kind != "CronJob") return;
  if (job.meta.labels.contains(names::kQueueLabel) ||
      (job.pod_shape->asks_for_gpus() && choice.default_of(job.meta.namespace_.view()) != nullptr))
    out.push_back(held(job, queue::release_job(job, past_the_queue(job.meta), {})));
}

template <class T>
Task<Result<void>> list(ApiClient& client, std::string namespace_, std::vector<T>& out,
                        std::stop_token stop) {
  ListOptions options{.namespace_ = std::move(namespace_)};
  do {
    Result<ListPage<T>> page = co_await client.list_page<T>(options, CallOptions(stop));
    if (!page) {
      Error error = std::move(page).error();
      error.where = fmt::format("cannot list {}", kKind<T>.plural);
      co_return error;
    }
    for (T& item : page->items) out.push_back(std::move(item));
    options.continue_token = page->continue_token;
  } while (!options.continue_token.empty());
  co_return Result<void>();
}

Task<Result<std::vector<Held>>> list_held(ApiClient& client, const ReleaseFlags& flags,
                                          std::stop_token stop) {
  std::vector<Namespace> namespaces;
  std::vector<GPUQueue> queues;
  std::vector<Job> jobs;
  std::vector<Pod> pods;
  Result<void> read = co_await list(client, "", namespaces, stop);
  if (read) read = co_await list(client, "", queues, stop);
  if (read) read = co_await list(client, flags.namespace_, jobs, stop);
  if (read) read = co_await list(client, flags.namespace_, pods, stop);
  if (!read) co_return std::move(read).error();

  queue::QueueChoice choice;
  for (const Namespace& one : namespaces) choice.follow(Change<Namespace>{.now = &one});
  for (const GPUQueue& one : queues) choice.follow(Change<GPUQueue>{.now = &one});
  std::vector<Held> waiting;
  for (const Job& job : jobs) add_if_held(job, choice, waiting);
  for (const Pod& pod : pods) add_if_held(pod, choice, waiting);
  co_return waiting;
}

// The command uncordons no node: a policy with action Report makes berth uncordon them all. It
// lists the nodes, because without berth they would stay cordoned.
std::string tell_cordoned(const std::vector<Node>& nodes) {
  std::string told;
  std::int64_t count = 0;
  for (const Node& node : nodes) {
    if (!is_out_for_health(node)) continue;
    ++count;
    told += fmt::format("Node/{}  cordoned for its health: {}\n", node.meta.name,
                        health_of(node)->findings);
  }
  if (count == 0) return told;
  return told + fmt::format(
                    "{} cordoned by berth, and only berth uncordons {}. Before you uninstall, set "
                    "spec.health.action: Report in GPUClusterPolicy/{}, or uncordon by hand.\n",
                    count == 1 ? "1 node is" : fmt::format("{} nodes are", count),
                    count == 1 ? "it" : "them", limits::kPolicyName);
}

Task<std::string> list_cordoned(ApiClient& client, std::stop_token stop) {
  std::vector<Node> nodes;
  const Result<void> read = co_await list(client, "", nodes, stop);
  if (!read)
    co_return fmt::format("Nodes that are cordoned for their health are not known: {}\n",
                          describe(read.error()));
  co_return tell_cordoned(nodes);
}

// Checked before the first patch: without the verb the server would refuse every patch with the
// same message.
Task<Result<void>> check_verb(ApiClient& client, std::stop_token stop) {
  ApiRequest request;
  request.method = "POST";
  request.target = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  request.content_type = std::string(kJsonType);
  request.body = R"({"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview",)"
                 R"("spec":{"resourceAttributes":{"verb":"release","group":"gpu.berth.dev",)"
                 R"("resource":"gpuqueues"}}})";
  Result<Reply> reply = co_await client.send(std::move(request), CallOptions(stop));
  if (!reply) co_return std::move(reply).error();
  const auto answer = nlohmann::json::parse(reply->body, nullptr, false);
  const nlohmann::json::json_pointer allowed("/status/allowed");
  if (answer.contains(allowed) && answer[allowed] == true) co_return Result<void>();
  co_return Error{.message =
                      "this account may not let go what queues hold back: it takes the verb "
                      "`release` on gpuqueues.gpu.berth.dev, as ClusterRole berth-release has it"};
}

Task<Result<std::string>> release_all(ApiClient& client, const ReleaseFlags& flags,
                                      std::stop_token stop) {
  if (flags.yes) {
    Result<void> may = co_await check_verb(client, stop);
    if (!may) co_return std::move(may).error();
  }
  Result<std::vector<Held>> waiting = co_await list_held(client, flags, stop);
  if (!waiting) co_return std::move(waiting).error();

  std::string told;
  std::size_t refused = 0;
  for (Held& one : *waiting) {
    std::string outcome = flags.yes ? "released" : "would be released";
    if (flags.yes) {
      const WriteOptions write{.field_manager = names::kManagerQueue};
      Result<Reply> reply = co_await client.send(
          merge_patch_request(one.kind, one.key, std::move(one.patch), write), CallOptions(stop));
      if (!reply) outcome = "not released: " + describe(reply.error());
      refused += reply ? 0 : 1;
    }
    told += fmt::format("{}  {}\n", one.name, outcome);
  }
  const auto count = static_cast<std::int64_t>(waiting->size());
  told += waiting->empty() ? "Nothing waits in a queue.\n"
          : flags.yes      ? fmt::format("{} of {} released.\n", waiting->size() - refused,
                                         plural(count, "workload"))
                           : fmt::format("{} would start past every quota. With --yes, they do.\n",
                                         plural(count, "object"));
  if (flags.all) told += co_await list_cordoned(client, stop);
  if (refused == 0) co_return told;
  co_return Error{.message = told +
                             "it takes patch on pods and Jobs, too; what changed meanwhile may be "
                             "tried again"};
}

}  // namespace

FlagTable release_flags(ReleaseFlags& flags) {
  FlagTable table = {
      switch_flag("-A,--all", flags.all, "in every namespace"),
      text_flag("-n,--namespace", flags.namespace_, "in this namespace"),
      switch_flag("--yes", flags.yes, "do it; without, it is only told what would be released"),
  };
  for (Flag& flag : login_flags(flags.connection)) table.push_back(std::move(flag));
  return table;
}

int run_release(const ReleaseFlags& flags) {
  if (flags.all == !flags.namespace_.empty())
    return complain("berth release", {.message = "say where: --all, or -n NAMESPACE"});
  std::string where;
  Result<std::string> told =
      converse(flags.connection, where, [&](ApiClient& client, std::stop_token stop) {
        return release_all(client, flags, std::move(stop));
      });
  if (!told) return complain("berth release", told.error());
  put(*told);
  return 0;
}

}  // namespace berth
