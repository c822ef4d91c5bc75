// SPDX-License-Identifier: Apache-2.0
#include "tests/support/holdings.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>

namespace berth::test {
namespace {

constexpr char kAdmitted[] = "gpu.berth.dev/admitted";
constexpr char kGate[] = "gpu.berth.dev/queue";
constexpr char kClass[] = "gpu";  // its amounts are millionths of a GPU
constexpr long long kWholeGpu = 1'000'000;
constexpr std::chrono::minutes kHangsAfter{1};

long long part_of(long long amount, long long pods) {
  return pods < 1 ? amount : (amount + pods - 1) / pods;
}

std::string controller_of(const Object& object) {
  for (const Object& owner : object.items("/metadata/ownerReferences"))
    if (owner.truth("/controller")) return owner.text("/uid");
  return "";
}

bool is_gated(const Object& pod) {
  const auto gates = pod.items("/spec/schedulingGates");
  return std::ranges::any_of(gates, [](const Object& gate) { return gate.text("/name") == kGate; });
}

std::map<std::string, long long> asks_of(const Object& pod) {
  std::map<std::string, long long> asks;
  for (const Object& container : pod.items("/spec/containers"))
    for (const auto& [resource, amount] : container.strings("/resources/limits"))
      if (resource.find('/') != std::string::npos) asks[resource] += std::atoll(amount.c_str());
  return asks;
}

bool is_finished(const Object& job) {
  return job.condition("Complete") == "True" || job.condition("Failed") == "True";
}

// Answers to the garbage collector contain only metadata.
bool shows(const AuditEvent& event, const char* kind) {
  const std::string shown = event.response.text("/kind");
  return shown == kind || shown == "PartialObjectMetadata";
}

// A deleted object stays until its last finalizer is removed. The log then shows no deletion.
bool is_gone(const AuditEvent& event, const char* kind) {
  const Object& now = event.response;
  if (!shows(event, kind)) return event.verb == "delete";
  const bool ends =
      now.has("/metadata/deletionTimestamp") && now.items("/metadata/finalizers").empty();
  return ends && now.number("/metadata/deletionGracePeriodSeconds") == 0;
}

}  // namespace

Time time_of(const AuditEvent& event) {
  const std::string& text = event.received_at.empty() ? event.answered_at : event.received_at;
  const Result<Time> time = parse_time(text);
  return time ? *time : Time();
}

std::optional<Recorded> read_recorded(const std::string& json) {
  const Object record(nlohmann::json::parse(json, nullptr, /*allow_exceptions=*/false));
  Recorded out{.uid = record.text("/uid"),
               .queue = record.text("/queue"),
               .cohort = record.text("/cohort"),
               .pool = record.text("/pool"),
               .since = record.text("/since"),
               .pods = record.number("/pods")};
  for (const auto& [resource, amount] : record.strings("/amounts"))
    out.amounts[resource] = std::atoll(amount.c_str());
  return out.uid.empty() || out.since.empty() ? std::nullopt : std::optional(out);
}

void Stay::ends(Time at) {
  until = std::min(until, at);
  again = Time::max();
}

void Holdings::take(const AuditEvent& event) {
  if (event.resource == "gpuqueues") take_queue(event);
  if (event.resource == "jobs") take_job(event);
  if (event.resource == "pods") take_pod(event);
  if (event.resource == "configmaps" && event.name == "berth-admissions") take_ledger(event);
}

void Holdings::take_queue(const AuditEvent& event) {
  if (event.response.text("/kind") != "GPUQueue") return;
  Queue queue{.cohort = event.response.text("/spec/cohortName")};
  for (const Object& quota : event.response.items("/spec/quotas")) {
    const std::string resource = quota.text("/resource"), pool = quota.text("/pool");
    queue.nominal[{resource, pool.empty() ? "*" : pool}] =
        quota.number("/nominalQuota") * (resource == kClass ? kWholeGpu : 1);
  }
  queues_[event.name] = std::move(queue);
}

void Holdings::take_job(const AuditEvent& event) {
  const Object& job = event.response;
  const Time ended = time_of(event) + kHeardWithin;
  const std::string uid = shows(event, "Job") ? job.uid() : job.text("/details/uid");
  HeldJob& held = jobs_[uid];
  if (is_gone(event, "Job")) return held.stay.ends(ended);
  if (job.text("/kind") != "Job") return;
  const auto record = read_recorded(job.annotation(kAdmitted));
  if (record) held.record = *record;
  if (record && record->uid == uid && !job.truth("/spec/suspend") && !is_finished(job))
    held.stay = {};
  else
    held.stay.ends(ended);
}

void Holdings::take_pod(const AuditEvent& event) {
  HeldPod& held = pods_[event.ns + "/" + event.name];
  const Time now = time_of(event), heard = event.by_berth() ? now : now + kHeardWithin;
  if (event.subresource == "eviction") return held.stay.ends(heard);
  if (event.subresource == "binding") return void(held.bound = true);
  const Object& pod = event.response;
  if (is_gone(event, "Pod")) return held.stay.ends(heard);
  if (!shows(event, "Pod")) return;
  if (held.uid != pod.uid()) held.stay = {};
  held.uid = pod.uid(), held.ns = event.ns, held.controller = controller_of(pod);
  held.group = pod.label("gpu.berth.dev/pod-group");
  if (pod.text("/kind") == "Pod") {
    held.record = is_gated(pod) ? std::nullopt : read_recorded(pod.annotation(kAdmitted));
    held.bound = !pod.text("/spec/nodeName").empty();
    held.asks = asks_of(pod);
    held.finished =
        pod.text("/status/phase") == "Succeeded" || pod.text("/status/phase") == "Failed";
  }
  if (held.finished) return held.stay.ends(heard);
  const Result<Time> ends = parse_time(pod.text("/metadata/deletionTimestamp"));
  if (!ends) return;
  held.stay.ends(heard);
  held.stay.again = *ends + kHangsAfter;
}

void Holdings::take_ledger(const AuditEvent& event) {
  std::set<std::string> standing;
  for (const auto& [uid, text] : event.response.strings("/data")) {
    const auto record = read_recorded(text);
    if (!record || record->uid != uid) continue;  // another kind of entry
    if (text.find("\"refused\":") != std::string::npos) continue;
    standing.insert(uid + record->since);
    entries_[uid + record->since] = {*record, {}};
  }
  for (auto& [key, entry] : entries_)
    if (!standing.contains(key)) entry.stay.ends(time_of(event));
}

const HeldPod* Holdings::pod(const std::string& key) const {
  const auto found = pods_.find(key);
  return found == pods_.end() ? nullptr : &found->second;
}

std::string Holdings::cohort_of(const std::string& queue) const {
  const auto found = queues_.find(queue);
  return found == queues_.end() ? "" : found->second.cohort;
}

bool Holdings::is_over_nominal(const Recorded& admission, Time at) const {
  const auto queue = queues_.find(admission.queue);
  return std::ranges::any_of(admission.amounts, [&](const auto& amount) {
    const Key key{amount.first, admission.pool};
    if (amount.second == 0) return false;
    long long nominal = 0;
    if (queue != queues_.end())
      if (const auto quota = queue->second.nominal.find(key); quota != queue->second.nominal.end())
        nominal = quota->second;
    return held(admission.queue, key, at) > nominal;
  });
}

// True: the object already has the admission of this ledger entry.
bool Holdings::is_shown(const Recorded& entry) const {
  const auto job = jobs_.find(entry.uid);
  if (job != jobs_.end() && job->second.record.since == entry.since) return true;
  return std::ranges::any_of(pods_, [&](const auto& each) {
    return each.second.record && each.second.record->uid == entry.uid &&
           each.second.record->since == entry.since;
  });
}

long long Holdings::held(const std::string& queue, const Key& key, Time at) const {
  long long sum = held_by_pods(queue, key, at);
  const auto add = [&](const HeldJob& of) {
    if (of.record.queue != queue || of.record.pool != key.second || !of.stay.counts(at)) return;
    const auto amount = of.record.amounts.find(key.first);
    if (amount != of.record.amounts.end()) sum += amount->second;
  };
  for (const auto& [_, job] : jobs_) add(job);
  for (const auto& [_, entry] : entries_)
    if (!is_shown(entry.record)) add(entry);
  return sum;
}

// A gang holds what it was admitted with. Pods of a Job that counts are part of what the Job holds.
long long Holdings::held_by_pods(const std::string& queue, const Key& key, Time at) const {
  long long sum = 0;
  std::set<std::string> gangs;
  for (const auto& [_, pod] : pods_) {
    if (!pod.stay.counts(at)) continue;
    if (!pod.record) {  // no queue admitted it: count it for any queue
      const auto asks = pod.asks.find(key.first);
      if (pod.bound && asks != pod.asks.end()) sum += asks->second;
      continue;
    }
    const Recorded& record = *pod.record;
    const auto amount = record.amounts.find(key.first);
    if (record.queue != queue || record.pool != key.second || amount == record.amounts.end())
      continue;
    const auto job = jobs_.find(record.uid);
    if (job != jobs_.end() && pod.controller == record.uid && job->second.stay.counts(at)) continue;
    if (record.uid != pod.uid)
      sum += part_of(amount->second, record.pods);
    else if (record.pods == 1 || gangs.insert(pod.ns + pod.group + record.since).second)
      sum += amount->second;
  }
  return sum;
}

}  // namespace berth::test
