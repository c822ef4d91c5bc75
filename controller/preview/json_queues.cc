// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/json_queues.h"

#include <nlohmann/json.hpp>

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

template <class T, class Encode>
Json list(const std::vector<T>& values, Encode&& encode) {
  Json out = Json::array();
  for (const T& value : values) out.push_back(encode(value));
  return out;
}

Json encode(const QueueVerdict& verdict) {
  return {{"queue", verdict.queue},
          {"reason", verdict.reason},
          {"message", verdict.message},
          {"pool", verdict.pool},
          {"position", verdict.position}};
}

// For admitted workloads.
Json encode(const QueuePlace& place) {
  Json out = {{"nodes", place.nodes},
              {"nodesToCome", place.nodes_to_come},
              {"domain", nullptr},
              {"narrower", nullptr}};
  if (place.domain)
    out["domain"] = {{"level", place.domain->level}, {"value", place.domain->value}};
  if (place.narrower)
    out["narrower"] = {{"level", place.narrower->level},
                       {"room", place.narrower->room},
                       {"pods", place.narrower->pods}};
  return out;
}

Json encode(const std::optional<QueueVerdict>& verdict) {
  return verdict ? encode(*verdict) : Json(nullptr);
}

Json encode(const std::optional<QuotaNumbers>& numbers) {
  if (!numbers) return nullptr;
  return {{"nominal", numbers->nominal},
          {"used", numbers->used},
          {"borrowed", numbers->borrowed},
          {"pending", numbers->pending}};
}

Json encode(const QuotaChange& row) {
  return {{"resource", row.resource},
          {"pool", row.pool},
          {"before", encode(row.before)},
          {"after", encode(row.after)}};
}

Json encode(const QueuedWorkload& queued) {
  Json out = {{"workload", queued.workload}};
  out.update(encode(queued.verdict));
  out.update(encode(queued.verdict.place));
  return out;
}

Json encode(const DisplacedWork& displaced) {
  return {{"workload", displaced.workload},
          {"queue", displaced.queue},
          {"lostGPUSeconds", displaced.lost_gpu_seconds}};
}

// All workloads that an admission evicts, and when the admitted workload itself ends.
void encode_displaced(const QueueVerdict& verdict, Json& out) {
  out["displaced"] = list(verdict.displaced, [](const auto& each) { return encode(each); });
  out["ended"] = verdict.ended ? Json(format_time(*verdict.ended)) : Json(nullptr);
}

Json encode_admitted(const QueuedWorkload& queued) {
  Json out = encode(queued);
  encode_displaced(queued.verdict, out);
  return out;
}

Json encode_start(const AskedWorkload& asked) {
  if (!asked.start) return nullptr;
  const auto time = [](std::optional<std::int64_t> at) {
    return at ? Json(format_time(Time(std::chrono::microseconds(*at)))) : Json(nullptr);
  };
  return {{"earliest", time(asked.start->earliest)},
          {"latest", time(asked.start->latest)},
          {"message", asked.begins}};
}

Json encode(const AskedWorkload& asked) {
  Json out = {{"workload", asked.workload}};
  out.update(encode(asked.verdict));
  out.update(encode(asked.verdict.place));
  encode_displaced(asked.verdict, out);
  out["start"] = encode_start(asked);
  out.update(Json{
      {"behind", asked.behind}, {"advice", asked.advice.message}, {"line", asked.advice.line}});
  return out;
}

Json encode(const QueueSummary& queue) {
  Json out = {{"name", queue.name},
              {"cohort", queue.cohort},
              {"change", queue.created   ? "Created"
                         : queue.edited  ? "Edited"
                         : queue.deleted ? "Deleted"
                                         : "Unchanged"},
              {"given", queue.given},
              {"trouble", nullptr},
              {"namespaces", queue.namespaces},
              {"notes", queue.notes},
              {"admitted", queue.admitted},
              {"pending", queue.pending},
              {"quotas", list(queue.quotas, [](const auto& row) { return encode(row); })},
              {"starts", list(queue.starts, encode_admitted)},
              {"waits", list(queue.waits, [](const auto& each) { return encode(each); })},
              {"reasons", Json::object()}};
  if (queue.trouble)
    out["trouble"] = {{"reason", queue.trouble->reason}, {"message", queue.trouble->message}};
  for (const auto& [reason, count] : queue.reasons) out["reasons"][reason] = count;
  return out;
}

}  // namespace

Json encode_queues(const QueueOutlook& outlook) {
  const auto outcome = [](const OutcomeChange& change) {
    return Json{{"workload", change.workload},
                {"was", encode(change.was)},
                {"now", encode(change.now)},
                {"losesStart", change.loses_start()}};
  };
  const auto fallback = [](const DefaultChange& change) {
    return Json{{"namespace", change.namespace_}, {"was", change.was}, {"now", change.now}};
  };
  return {{"changes", outlook.changes()},
          {"asked", list(outlook.asked, [](const auto& each) { return encode(each); })},
          {"queues", list(outlook.queues, [](const auto& queue) { return encode(queue); })},
          {"outcomes", list(outlook.outcomes, outcome)},
          {"defaults", list(outlook.defaults, fallback)}};
}

}  // namespace berth
