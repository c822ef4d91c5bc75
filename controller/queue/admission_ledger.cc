// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/admission_ledger.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "apis/names.h"
#include "apis/time.h"
#include "controller/core/json_patch.h"
#include "controller/core/ledger_epoch.h"
#include "controller/core/merge_patch.h"
#include "controller/core/seeded_bugs.h"
#include "controller/queue/admission_record.h"

namespace berth::queue {
namespace {

// {"uid":"entry",…} with null for an entry to be removed.
std::string encode_data(const LedgerChanges& changes) {
  std::string members;
  for (const auto& [uid, entry] : changes) {
    members += members.empty() ? "" : ",";
    append_quoted(members, uid);
    members += ':';
    if (entry)
      append_quoted(members, encode_entry(*entry));
    else
      members += "null";
  }
  return "{" + members + "}";
}

}  // namespace

std::string encode_entry(const LedgerFact& entry) {
  std::string text = R"({"workload":)";
  append_quoted(text, entry.workload);
  text += ',';
  append_admission(text, entry.admission);
  if (entry.generation != 0) text += fmt::format(R"(,"generation":{})", entry.generation);
  if (!entry.refused.empty()) {
    text += R"(,"refused":)";
    append_quoted(text, entry.refused);
  }
  if (entry.until != 0) {
    text += fmt::format(R"(,"until":"{}")",
                        format_micro_time(Time(std::chrono::microseconds(entry.until))));
  }
  text += '}';
  return text;
}

std::optional<LedgerFact> decode_entry(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::optional<AdmissionFact> admission = read_admission(json);
  if (!admission) return std::nullopt;
  const auto workload = json.find("workload");
  if (workload == json.end() || !workload->is_string()) return std::nullopt;
  LedgerFact entry{.workload = workload->get<std::string>(), .admission = *std::move(admission)};
  if (entry.workload.empty()) return std::nullopt;
  if (const auto generation = json.find("generation");
      generation != json.end() && generation->is_number_integer())
    entry.generation = generation->get<std::int64_t>();
  const auto refused = json.find("refused"), until = json.find("until");
  if (refused == json.end() && until == json.end()) return entry;
  if (until == json.end() || !until->is_string()) return std::nullopt;
  const Result<Time> time = parse_time(until->get<std::string>());
  if (!time) return std::nullopt;
  entry.until = time->time_since_epoch().count();
  if (refused != json.end() && !refused->is_string()) return std::nullopt;
  if (refused != json.end()) entry.refused = refused->get<std::string>();
  return entry;
}

bool is_admission_ledger(const ConfigMap& config_map) {
  return config_map.meta.name == names::kAdmissionsConfigMap &&
         config_map.meta.annotations.contains(names::kEpochAnnotation);
}

AdmissionLedger read_admissions(const ConfigMap& config_map) {
  AdmissionLedger ledger;
  ledger.config_map = &config_map;
  ledger.epoch = epoch_of(config_map);
  for (const auto& [uid, text] : config_map.data) {
    std::optional<LedgerFact> entry = decode_entry(text);
    if (entry && entry->admission.uid == uid)
      ledger.entries.emplace(uid, *std::move(entry));
    else
      ledger.unreadable.push_back(uid);
  }
  return ledger;
}

void AdmissionLedgers::follow(const Change<ConfigMap>& change) {
  const ConfigMap& either = change.now != nullptr ? *change.now : *change.old;
  if (either.meta.name != names::kAdmissionsConfigMap) return;
  if (change.now == nullptr)
    ledgers_.erase(either.meta.namespace_);
  else
    ledgers_[either.meta.namespace_] = read_admissions(*change.now);
}

const AdmissionLedger& AdmissionLedgers::in(std::string_view namespace_) const {
  static const AdmissionLedger kNone;
  const auto found = ledgers_.find(Text(namespace_));
  return found == ledgers_.end() ? kNone : found->second;
}

const AdmissionLedger& read_admissions(const Snapshot& snapshot) {
  return snapshot.cluster.view<AdmissionLedgers>().in(snapshot.settings.berth_namespace);
}

Write write_admissions(const Snapshot& snapshot, const AdmissionLedger& ledger,
                       const LedgerChanges& changes, std::string reason) {
  const ConfigMap* standing = ledger.config_map;
  const std::string epoch = std::to_string(snapshot.epoch);
  Write write;
  write.object = {"ConfigMap", snapshot.settings.berth_namespace, names::kAdmissionsConfigMap,
                  standing == nullptr ? std::string() : standing->meta.uid};
  write.field_manager = names::kManagerQueue;
  write.reason = std::move(reason);
  if (standing == nullptr) {
    write.verb = Verb::kCreate;
    write.body = fmt::format(
        R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}","namespace":{},)"
        R"("labels":{{"{}":"berth"}},"annotations":{{"{}":"{}"}}}},"data":{}}})",
        names::kAdmissionsConfigMap, quote_json(snapshot.settings.berth_namespace),
        names::kManagedByLabel, names::kEpochAnnotation, epoch, encode_data(changes));
    return write;
  }
  write.verb = Verb::kMergePatch;
  const bool blind = seeded(SeededBug::kAdmitWithoutVersion);
  write.body =
      (blind ? MergePatch::same_object(standing->meta) : MergePatch::same_version(standing->meta))
          .annotation(names::kEpochAnnotation, epoch)
          .field("data", encode_data(changes))
          .str();
  return write;
}

}  // namespace berth::queue
