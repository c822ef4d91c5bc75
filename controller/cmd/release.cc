// SPDX-License-Identifier: Apache-2.0
// Outline: what waits; the patch of each, which nobody is charged for; what is told.
#include "controller/cmd/release.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "apis/core.h"
#include "apis/names.h"
#include "controller/client/api_client.h"
#include "controller/cmd/cluster_session.h"
#include "controller/cmd/console.h"
#include "controller/core/plural.h"
#include "controller/queue/facts_from.h"
#include "controller/queue/release.h"

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

// In any pool, with nothing: it is in nobody's quota.
queue::AdmissionFact past_the_queue(const ObjectMeta& meta) {
  return {.uid = meta.uid,
          .queue = meta.labels.get(names::kQueueLabel).str(),
          .pool = std::string(queue::kAnyPool)};
}

void add_if_held(const Pod& pod, std::vector<Held>& out) {
  if (queue::is_gated(pod) && !pod.terminating())
    out.push_back(held(pod, queue::release_pod(pod, past_the_queue(pod.meta))));
}

// One that a person holds back stays as that person wants it.
void add_if_held(const Job& job, std::vector<Held>& out) {
  const bool waits = job.suspended && !job.finished &&
                     job.meta.labels.contains(names::kQueueLabel) &&
                     !job.meta.annotations.contains(names::kHoldAnnotation);
  if (waits) out.push_back(held(job, queue::release_job(job, past_the_queue(job.meta))));
}

template <class T>
Task<Result<void>> list_held(ApiClient& client, const ReleaseFlags& flags, std::vector<Held>& out,
                             std::stop_token stop) {
  ListOptions options{.namespace_ = flags.namespace_};
  do {
    Result<ListPage<T>> page = co_await client.list_page<T>(options, CallOptions(stop));
    if (!page) {
      Error error = std::move(page).error();
      error.where = fmt::format("cannot list {}", kKind<T>.plural);
      co_return error;
    }
    for (const T& item : page->items) add_if_held(item, out);
    options.continue_token = page->continue_token;
  } while (!options.continue_token.empty());
  co_return Result<void>();
}

Task<Result<std::string>> release_all(ApiClient& client, const ReleaseFlags& flags,
                                      std::stop_token stop) {
  std::vector<Held> waiting;
  Result<void> read = co_await list_held<Job>(client, flags, waiting, stop);
  if (read) read = co_await list_held<Pod>(client, flags, waiting, stop);
  if (!read) co_return std::move(read).error();

  std::string told;
  std::size_t refused = 0;
  for (Held& one : waiting) {
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
  const auto count = static_cast<std::int64_t>(waiting.size());
  told += waiting.empty() ? "Nothing waits in a queue.\n"
          : flags.yes     ? fmt::format("{} of {} released.\n", waiting.size() - refused,
                                        plural(count, "workload"))
                          : fmt::format("{} would start past every quota. With --yes, they do.\n",
                                        plural(count, "object"));
  if (refused == 0) co_return told;
  co_return Error{.message = told +
                             "it takes the verb `release` on gpuqueues.gpu.berth.dev, and "
                             "patch on pods and Jobs; what changed meanwhile may be tried "
                             "again"};
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
