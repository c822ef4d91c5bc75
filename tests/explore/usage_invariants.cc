// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/usage_invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "apis/base/names.h"
#include "controller/queue/budget/usage_ledger.h"
#include "controller/queue/record/admission_ledger.h"
#include "tests/explore/look.h"

namespace berth::explore {

using nlohmann::json;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kGpu = 1'000'000;
// From the end of a workload until its pods are gone, a round of counting, and a leader that was
// down meanwhile.
constexpr std::chrono::seconds kCountsOn{90};

queue::GpuHours read_checkpoint(const json* config_map) {
  queue::UsageTexts texts;
  if (const json* data = at(config_map, {"data"}))
    for (const auto& [key, text] : data->items())
      if (text.is_string()) texts[key] = text.get<std::string>();
  return queue::read_usage(texts);
}

// Whether another client changes a workload's requests, or its admission record.
bool meddles(const sim::Change& change, bool by_berth) {
  const json *before = change.before.get(), *after = change.after.get();
  const std::string_view plural = change.key.type->plural;
  if (by_berth || before == nullptr || after == nullptr || (plural != "jobs" && plural != "pods"))
    return false;
  const bool asks =
      plural == "jobs" && changed_keys(at(before, {"spec"}), at(after, {"spec"})).size() > 0;
  const bool opens = at(before, {"spec", "schedulingGates"}) != nullptr &&
                     at(after, {"spec", "schedulingGates"}) == nullptr;
  return asks || (plural == "pods" && opens) ||
         annotation_at(before, names::kAdmittedAnnotation) !=
             annotation_at(after, names::kAdmittedAnnotation);
}

std::int64_t used_until(std::int64_t gpus, Time since, Time until) {
  return gpus * kGpu * std::chrono::ceil<std::chrono::seconds>(until - since).count();
}

}  // namespace

void UsageInvariants::take(const sim::Change& change, bool by_berth, Time wall,
                           std::chrono::nanoseconds news_takes) {
  const std::string_view plural = change.key.type->plural;
  if (plural == "gpuqueues" && change.after != nullptr)
    has_budgets_ = has_budgets_ || at(change.after.get(), {"spec", "budget"}) != nullptr;
  if (!has_budgets_) return;
  meddled_ = meddled_ || meddles(change, by_berth) || accounts_.somebody_came_past();
  const bool admissions = change.key.name == names::kAdmissionsConfigMap;
  if (plural == "pods" || plural == "jobs" || admissions) follow_holders(wall, news_takes);
  if (admissions && by_berth) judge_admissions(change, wall, news_takes);
  if (change.key.name == names::kUsageConfigMap) take_checkpoint(change, by_berth, wall);
}

void UsageInvariants::follow_holders(Time wall, std::chrono::nanoseconds news_takes) {
  std::map<std::string, std::int64_t> gpus;
  for (const QueueAccounts::Holder& holder : accounts_.holders()) gpus[holder.queue] += holder.gpus;
  for (const auto& [queue, held] : held_) gpus.try_emplace(queue, 0);
  for (const auto& [queue, is] : gpus) {
    Held& held = held_[queue];
    if (held.gpus == is) continue;
    held.most += used_until(held.gpus, held.since, wall);
    const auto counts_on = kCountsOn + std::chrono::ceil<std::chrono::seconds>(news_takes);
    if (is < held.gpus) held.grace += (held.gpus - is) * kGpu * counts_on.count();
    held.gpus = is;
    held.since = wall;
  }
}

void UsageInvariants::take_checkpoint(const sim::Change& change, bool by_berth, Time wall) {
  const bool gone = change.kind == sim::Change::Kind::kDeleted;
  const queue::GpuHours before =
      std::exchange(written_, gone ? queue::GpuHours() : read_checkpoint(change.after.get()));
  const bool was_edited = std::exchange(edited_, !by_berth);
  for (const auto& [queue, account] : written_.budgets)
    if (is_spent(queue)) spent_since_.try_emplace(queue, wall);
  std::erase_if(spent_since_, [&](const auto& each) { return !is_spent(each.first); });
  if (!by_berth || gone) {
    for (auto& [queue, held] : held_) held.most = held.grace = 0, held.since = wall;
    return;
  }
  if (written_.at && *written_.at > wall)
    complain("Back", fmt::format("what is used is counted until {}", format_time(*written_.at)));
  if (!was_edited && before.at && (!written_.at || *written_.at < *before.at))
    complain("Back", fmt::format("what is used was counted until {}, and is until {}",
                                 format_time(*before.at),
                                 written_.at ? format_time(*written_.at) : "never"));
  for (const auto& [queue, account] : written_.budgets) {
    const auto last = before.budgets.find(queue);
    const bool goes_on =
        last != before.budgets.end() && last->second.period.from == account.period.from;
    if (!was_edited && goes_on && account.used < last->second.used)
      complain("Back", fmt::format("{} has used {} of its budget, and had used {}", queue,
                                   account.used, last->second.used));
    Held& held = held_[queue];
    if (was_edited) held.most += account.used;
    const std::int64_t most = held.most + held.grace + used_until(held.gpus, held.since, wall);
    if (account.used > most && !meddled_)
      complain("Use", fmt::format("{} has used {} of its budget, and can have used {}", queue,
                                  account.used, most));
  }
}

bool UsageInvariants::is_spent(const std::string& name) const {
  const GPUQueue* queue = accounts_.queue(name);
  const auto account = written_.budgets.find(name);
  if (queue == nullptr || !queue->spec.budget || account == written_.budgets.end()) return false;
  return account->second.used >= queue->spec.budget->gpu_hours_thousandths * queue::kThousandthHour;
}

void UsageInvariants::judge_admissions(const sim::Change& change, Time wall,
                                       std::chrono::nanoseconds news_takes) {
  const json* before = at(change.before.get(), {"data"});
  const json* after = at(change.after.get(), {"data"});
  if (after == nullptr) return;
  for (const auto& [uid, text] : after->items()) {
    if (before != nullptr && before->contains(uid)) continue;
    const auto entry = queue::decode_entry(text.get<std::string>());
    const auto spent = entry ? spent_since_.find(entry->admission.queue) : spent_since_.end();
    if (spent == spent_since_.end()) continue;
    const GPUQueue* queue = accounts_.queue(spent->first);
    const Time heard_of = Time(std::chrono::microseconds(entry->admission.since)) -
                          std::chrono::ceil<Time::duration>(news_takes);
    if (queue == nullptr || !is_spent(spent->first) ||
        queue->spec.budget->when_exceeded != WhenExceeded::kHold ||
        accounts_.queue_since(spent->first) > heard_of || spent->second > heard_of ||
        written_.budgets.at(spent->first).period.until <= wall)
      continue;
    complain("Spent", fmt::format("{} is admitted to {}, which has used up its budget",
                                  entry->workload, spent->first));
  }
}

void UsageInvariants::complain(std::string_view invariant, const std::string& what) {
  broken_.push_back(fmt::format("{}: {}", invariant, what));
}

}  // namespace berth::explore
