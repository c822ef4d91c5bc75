// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/admission_record.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "controller/queue/capped.h"

namespace berth::queue {
namespace {

using nlohmann::json;

bool read_text(const json& record, const char* key, std::string& out) {
  auto it = record.find(key);
  if (it == record.end() || !it->is_string()) return false;
  out = it->get<std::string>();
  return true;
}

bool read_amount(const json& value, std::int64_t& out) {
  if (!value.is_number_integer() || value < 0 || value > kMostOfAnything) return false;
  out = value.get<std::int64_t>();
  return true;
}

}  // namespace

AdmissionFact admission_fact(const Admission& admission, const FactsIndex& index) {
  const Catalog& catalog = index.catalog();
  AdmissionFact fact;
  fact.queue = catalog.queue_name(admission.workload->standing.queue);
  if (const auto queue = index.queues().find(fact.queue); queue != index.queues().end())
    fact.cohort = queue->second.cohort;
  fact.pool = catalog.pool_name(admission.pool);
  fact.pods = admission.pods;
  for (const auto& [key, amount] : admission.amounts)
    fact.amounts.emplace_back(catalog.resource_name(catalog.key_parts(key).first), amount);
  std::ranges::sort(fact.amounts);
  return fact;
}

std::string encode_admission(const AdmissionFact& admission) {
  json amounts = json::object();
  for (const auto& [resource, amount] : admission.amounts) amounts[resource] = amount;
  return json{{"queue", admission.queue},
              {"cohort", admission.cohort},
              {"pool", admission.pool},
              {"pods", admission.pods},
              {"amounts", std::move(amounts)}}
      .dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<AdmissionFact> decode_admission(std::string_view text) {
  const json record = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!record.is_object()) return std::nullopt;
  AdmissionFact fact;
  if (!read_text(record, "queue", fact.queue) || !read_text(record, "cohort", fact.cohort) ||
      !read_text(record, "pool", fact.pool))
    return std::nullopt;
  auto pods = record.find("pods");
  if (pods == record.end() || !read_amount(*pods, fact.pods)) return std::nullopt;
  auto amounts = record.find("amounts");
  if (amounts == record.end() || !amounts->is_object()) return std::nullopt;
  for (auto it = amounts->begin(); it != amounts->end(); ++it) {
    if (!read_amount(*it, fact.amounts.emplace_back(it.key(), 0).second)) return std::nullopt;
  }
  return fact;
}

}  // namespace berth::queue
