// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/record/admission_record.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "apis/base/names.h"
#include "apis/base/result.h"
#include "apis/base/time.h"
#include "controller/core/json_patch.h"
#include "controller/queue/facts/capped.h"
#include "controller/queue/facts/record_cover.h"

namespace berth::queue {
namespace {

bool read_text(const nlohmann::json& record, const char* key, std::string& out) {
  auto it = record.find(key);
  if (it == record.end() || !it->is_string()) return false;
  out = it->get<std::string>();
  return true;
}

bool read_amount(const nlohmann::json& value, std::int64_t& out) {
  if (!value.is_number_integer() || value < 0 || value > kMostOfAnything) return false;
  out = value.get<std::int64_t>();
  return true;
}

bool read_list(const nlohmann::json& record, const char* key, std::vector<std::string>& out) {
  auto it = record.find(key);
  if (it == record.end()) return true;
  if (!it->is_array() ||
      !std::ranges::all_of(*it, [](const nlohmann::json& item) { return item.is_string(); }))
    return false;
  out = it->get<std::vector<std::string>>();
  return true;
}

// The list is sorted by name. A missing key gives an empty list.
bool read_amounts(const nlohmann::json& record, const char* key, Amounts& out) {
  const auto found = record.find(key);
  if (found == record.end()) return true;
  if (!found->is_object()) return false;
  for (auto it = found->begin(); it != found->end(); ++it)
    if (!read_amount(*it, out.emplace_back(it.key(), 0).second)) return false;
  return true;
}

void append_shapes(const std::vector<SeatShape>& shapes, std::string& out) {
  std::string_view lead = R"(,"shapes":[)";
  for (const SeatShape& shape : shapes) {
    out.append(std::exchange(lead, ",")).append("{");
    if (!shape.seat.empty()) {
      out += R"("seat":)";
      append_quoted(out, shape.seat);
      out += ',';
    }
    fmt::format_to(std::back_inserter(out), FMT_COMPILE(R"("pods":{},"asks":{{)"), shape.pods);
    std::string_view comma;
    for (const auto& [resource, amount] : shape.asks) {
      out += std::exchange(comma, ",");
      append_quoted(out, resource);
      fmt::format_to(std::back_inserter(out), FMT_COMPILE(":{}"), amount);
    }
    out += "}}";
  }
  if (!shapes.empty()) out += ']';
}

bool read_shapes(const nlohmann::json& record, std::vector<SeatShape>& shapes) {
  const auto found = record.find("shapes");
  if (found == record.end()) return true;
  if (!found->is_array()) return false;
  for (const nlohmann::json& item : *found) {
    if (!item.is_object()) return false;
    SeatShape& shape = shapes.emplace_back();
    if (item.contains("seat") && !read_text(item, "seat", shape.seat)) return false;
    if (!read_amount(item.value("pods", nlohmann::json()), shape.pods) || !item.contains("asks") ||
        !read_amounts(item, "asks", shape.asks))
      return false;
  }
  return true;
}

}  // namespace

// Written without a JSON library: a batch has hundreds of records, and berth writes each one twice.
void append_admission(std::string& out, const AdmissionFact& admission) {
  const auto text = [&](std::string_view lead, std::string_view value) {
    out += lead;
    append_quoted(out, value);
  };
  const auto number = [&](std::string_view lead, std::int64_t value) {
    out += lead;
    fmt::format_to(std::back_inserter(out), FMT_COMPILE("{}"), value);
  };
  text(R"("uid":)", admission.uid);
  if (admission.version != 0) number(R"(,"version":)", admission.version);
  text(R"(,"queue":)", admission.queue);
  text(R"(,"cohort":)", admission.cohort);
  text(R"(,"pool":)", admission.pool);
  number(R"(,"pods":)", admission.pods);
  std::string_view lead = R"(,"amounts":{)";
  for (const auto& [resource, amount] : admission.amounts) {
    text(std::exchange(lead, ","), resource);
    number(":", amount);
  }
  if (admission.amounts.empty()) out += lead;
  text(R"(},"since":)", format_micro_time(Time(std::chrono::microseconds(admission.since))));
  number(R"(,"epoch":)", admission.epoch);
  const auto list = [&](std::string_view before, const std::vector<std::string>& items) {
    for (const std::string& item : items) text(std::exchange(before, ","), item);
    if (!items.empty()) out += ']';
  };
  list(R"(,"nodes":[)", admission.nodes);
  list(R"(,"members":[)", admission.members);
  lead = R"(,"seats":{)";
  for (const auto& [seat, pods] : admission.seats) {
    text(std::exchange(lead, ","), seat);
    number(":", pods);
  }
  if (!admission.seats.empty()) out += '}';
  append_shapes(admission.shapes, out);
  if (!admission.maker.empty()) text(R"(,"maker":)", admission.maker);
  if (admission.selects_pool) out += R"(,"selectsPool":true)";
}

std::string encode_admission(const AdmissionFact& admission) {
  constexpr std::size_t kUsualBytes = 400;
  std::string text;
  text.reserve(kUsualBytes);
  text += '{';
  append_admission(text, admission);
  text += '}';
  return text;
}

std::optional<AdmissionFact> decode_admission(std::string_view text) {
  return read_admission(nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false));
}

namespace {

// Reads what this berth can read of a later berth's record. berth charges the running pods by these
// parts.
AdmissionFact read_newer(const nlohmann::json& record, std::int64_t version) {
  AdmissionFact fact{.version = version, .pool = std::string(kAnyPool)};
  read_text(record, "uid", fact.uid);
  read_text(record, "queue", fact.queue);
  read_text(record, "cohort", fact.cohort);
  read_text(record, "pool", fact.pool);
  if (fact.pool.empty()) fact.pool = kAnyPool;
  std::string since;
  if (const auto time =
          read_text(record, "since", since) ? parse_time(since) : Result<Time>(Error{}))
    fact.since = time->time_since_epoch().count();
  if (record.contains("pods") && !read_amount(record["pods"], fact.pods)) fact.pods = 1;
  if (!read_list(record, "nodes", fact.nodes)) fact.nodes.clear();
  if (!read_list(record, "members", fact.members)) fact.members.clear();
  if (!read_amounts(record, "amounts", fact.amounts)) fact.amounts.clear();
  if (!read_amounts(record, "seats", fact.seats)) fact.seats.clear();
  if (!read_shapes(record, fact.shapes)) fact.shapes.clear();
  return fact;
}

// Kubernetes' Job controller writes it on each pod that it creates, and leaves it on orphans.
constexpr std::string_view kJobUidLabel = "batch.kubernetes.io/controller-uid";

bool is_of_orphaning_job(const AdmissionFact& record, const berth::Pod& pod) {
  const Text* job = pod.meta.labels.find(kJobUidLabel);
  return job != nullptr && job->view() == record.uid && !is_newer(record) && record.pods > 0;
}

// A Job's pods are all alike, so each has the same part of the record.
AdmissionFact part_of_one(AdmissionFact record, const berth::Pod& pod) {
  for (auto& [_, amount] : record.amounts) amount = part_of(amount, 1, record.pods);
  for (SeatShape& shape : record.shapes) shape.pods = 1;
  record.maker = std::exchange(record.uid, pod.meta.uid);
  record.nodes = {pod.node_name.str()};
  record.pods = 1;
  return record;
}

}  // namespace

std::optional<AdmissionFact> read_admission(const nlohmann::json& record) {
  if (!record.is_object()) return std::nullopt;
  AdmissionFact fact;
  fact.version = 0;
  if (record.contains("version") && !read_amount(record["version"], fact.version))
    return std::nullopt;
  if (is_newer(fact)) return read_newer(record, fact.version);
  std::string since;
  if (!read_text(record, "uid", fact.uid) || !read_text(record, "queue", fact.queue) ||
      !read_text(record, "cohort", fact.cohort) || !read_text(record, "pool", fact.pool) ||
      !read_text(record, "since", since))
    return std::nullopt;
  const Result<Time> time = parse_time(since);
  if (!time || fact.uid.empty() || fact.pool.empty()) return std::nullopt;
  fact.since = time->time_since_epoch().count();
  const auto epoch = record.find("epoch");
  if (epoch == record.end() || !read_amount(*epoch, fact.epoch)) return std::nullopt;
  if (!read_list(record, "nodes", fact.nodes) || !read_list(record, "members", fact.members))
    return std::nullopt;
  if (record.contains("maker") && !read_text(record, "maker", fact.maker)) return std::nullopt;
  fact.selects_pool = record.value("selectsPool", nlohmann::json()) == true;
  auto pods = record.find("pods");
  if (pods == record.end() || !read_amount(*pods, fact.pods)) return std::nullopt;
  if (!record.contains("amounts") || !read_amounts(record, "amounts", fact.amounts) ||
      !read_amounts(record, "seats", fact.seats) || !read_shapes(record, fact.shapes))
    return std::nullopt;
  return fact;
}

std::optional<AdmissionFact> admission_on(const ObjectMeta& meta) {
  const Text* record = meta.annotations.find(names::kAdmittedAnnotation);
  if (record == nullptr) return std::nullopt;
  std::optional<AdmissionFact> fact = decode_admission(record->view());
  // If the uid is unreadable, berth assumes that the record is this object's.
  if (fact && is_newer(*fact) && fact->uid.empty()) fact->uid = meta.uid;
  if (!fact || fact->uid == meta.uid) return fact;
  const OwnerReference* owner = meta.controller();
  return owner != nullptr && owner->uid == std::string_view(fact->uid) ? fact : std::nullopt;
}

std::optional<AdmissionFact> admission_on(const berth::Pod& pod) {
  std::optional<AdmissionFact> own = admission_on(pod.meta);
  if (own || pod.node_name.empty()) return own;
  const Text* record = pod.meta.annotations.find(names::kAdmittedAnnotation);
  if (record == nullptr) return std::nullopt;
  std::optional<AdmissionFact> of_job = decode_admission(record->view());
  if (!of_job || !is_of_orphaning_job(*of_job, pod)) return std::nullopt;
  return part_of_one(*std::move(of_job), pod);
}

std::optional<AdmissionFact> read_foreign(std::string_view text) {
  const nlohmann::json record = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!record.is_object()) return std::nullopt;
  AdmissionFact fact;
  if (!read_text(record, "queue", fact.queue) || !read_text(record, "pool", fact.pool))
    return std::nullopt;
  if (!read_list(record, "nodes", fact.nodes)) fact.nodes.clear();
  fact.selects_pool = record.value("selectsPool", nlohmann::json()) == true;
  return fact;
}

std::optional<AdmissionFact> foreign_admission_on(const ObjectMeta& meta) {
  const Text* record = meta.annotations.find(names::kAdmittedAnnotation);
  if (record == nullptr || admission_on(meta)) return std::nullopt;
  return read_foreign(record->view());
}

}  // namespace berth::queue
