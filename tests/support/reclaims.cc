// SPDX-License-Identifier: Apache-2.0
#include "tests/support/reclaims.h"

#include <fmt/format.h>

#include <algorithm>

namespace berth::test {

void Reclaims::take(const AuditEvent& event) {
  holdings_.take(event);
  if (event.resource == "gpuqueues" && event.response.text("/kind") == "GPUQueue")
    take_queue(event);
  if (event.resource == "configmaps" && event.name == "berth-admissions") take_ledger(event);
}

void Reclaims::take_queue(const AuditEvent& event) {
  if (event.response.text("/spec/stopPolicy") == "HoldAndDrain") drained_.insert(event.name);
  Times& times = times_[event.name] = {};
  const auto read = [&](const char* field, Duration& out) {
    const auto said = parse_duration(event.response.text(std::string("/spec/preemption/") + field));
    if (said) out = *said;
  };
  read("noticePeriod", times.notice);
  read("reclaimTimeout", times.timeout);
}

void Reclaims::take_ledger(const AuditEvent& event) {
  std::set<std::string> standing;
  for (const auto& [uid, text] : event.response.strings("/data")) {
    const Object object = Object::parse(text);
    if (uid.starts_with("recall.")) recalled_.insert(object.text("/since"));
    const auto admission = read_recorded(text);
    if (!admission || admission->uid != uid) continue;  // another kind of entry
    Entry& entry = entries_[uid + admission->since] = {*admission, {}, {}};
    standing.insert(uid + admission->since);
    for (const Object& ahead : object.items("/ahead"))
      if (ahead.truth("/evicted"))
        entry.displaced.push_back({ahead.text("/workload"), ahead.text("/uid"),
                                   ahead.text("/since"), ahead.truth("/idle")});
    displaced_.insert(entry.displaced.begin(), entry.displaced.end());
  }
  for (auto& [key, entry] : entries_)
    if (!standing.contains(key)) entry.stay.ends(time_of(event) + kHeardWithin);
}

// A pod that its Job has left behind carries the Job's record, and the ledger names it by its own
// uid. All members of a gang have the same admission time.
bool Reclaims::is(const Displaced& displaced, const HeldPod& pod) {
  if (displaced.since != (pod.record ? pod.record->since : "")) return false;
  if (displaced.uid == pod.uid || !pod.record) return displaced.uid == pod.uid;
  if (displaced.uid == pod.record->uid) return true;
  const std::string gangs = "PodGroup/" + pod.ns + "/";
  if (pod.record->pods < 2 || !displaced.workload.starts_with(gangs)) return false;
  return pod.group.empty() || displaced.workload == gangs + pod.group;
}

bool Reclaims::takes_back(const std::string& key) const {
  const HeldPod* pod = holdings_.pod(key);
  if (pod == nullptr) return false;
  if (std::ranges::any_of(displaced_, [&](const Displaced& of) { return is(of, *pod); }))
    return true;
  return pod->record &&
         (recalled_.contains(pod->record->since) || drained_.contains(pod->record->queue));
}

std::string Reclaims::why_not_late(const std::string& key, const AuditEvent& deletion) const {
  const HeldPod* pod = holdings_.pod(key);
  const Time at = time_of(deletion);
  std::string why = "no admission displaces it";
  for (const auto& [_, entry] : entries_) {
    if (!entry.stay.counts(at) || pod == nullptr) continue;
    for (const Displaced& displaced : entry.displaced) {
      if (!is(displaced, *pod)) continue;
      why = displaced.idle ? "it is displaced for being idle" : why_not_late(*pod, entry, at);
      if (why.empty()) return why;
    }
  }
  return why;
}

std::string Reclaims::why_not_late(const HeldPod& pod, const Entry& entry, Time at) const {
  const Recorded& by = entry.admission;
  if (!pod.record) return "no queue admitted it";
  if (pod.record->uid == pod.controller) return "its Job is suspended instead";
  if (pod.record->queue == by.queue) return "its own queue displaces it";
  if (by.cohort.empty() || holdings_.cohort_of(pod.record->queue) != by.cohort)
    return fmt::format("queue {} is of another cohort", by.queue);
  const auto times = times_.find(by.queue);
  const auto since = parse_time(by.since);
  if (times == times_.end() || !since) return "nothing says until when budgets keep it";
  const Time due = *since + times->second.notice + times->second.timeout;
  if (at < due) return "budgets keep it until " + format_micro_time(due);
  if (!holdings_.is_over_nominal(*pod.record, at))
    return fmt::format("queue {} has no more than its nominal quota", pod.record->queue);
  return "";
}

}  // namespace berth::test
