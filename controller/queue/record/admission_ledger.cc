// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/record/admission_ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "apis/base/names.h"
#include "apis/base/time.h"
#include "controller/core/json_patch.h"
#include "controller/core/ledger_epoch.h"
#include "controller/core/merge_patch.h"
#include "controller/core/seeded_bugs.h"
#include "controller/queue/facts/record_cover.h"
#include "controller/queue/record/admission_record.h"
#include "controller/queue/record/recall.h"
#include "controller/queue/record/restart.h"

namespace berth::queue {
namespace {

// Returns {"uid":"entry",…}, with null for an entry to remove.
std::string encode_data(const LedgerChanges& changes) {
  std::string members;
  for (const auto& [uid, entry] : changes) {
    members += members.empty() ? "" : ",";
    append_quoted(members, uid);
    members += ':';
    if (entry)
      append_quoted(members, *entry);
    else
      members += "null";
  }
  return "{" + members + "}";
}

std::string moment(std::int64_t microseconds) {
  return format_micro_time(Time(std::chrono::microseconds(microseconds)));
}

void append_ahead(std::string& text, const std::vector<AheadFact>& all) {
  std::string_view lead = R"(,"ahead":[)";
  for (const AheadFact& ahead : all) {
    text.append(std::exchange(lead, ",")).append(R"({"workload":)");
    append_quoted(text, ahead.workload);
    text += R"(,"uid":)";
    append_quoted(text, ahead.uid);
    if (ahead.since != 0) text += fmt::format(R"(,"since":"{}")", moment(ahead.since));
    if (ahead.evicted) text += R"(,"evicted":true)";
    if (ahead.idle) text += R"(,"idle":true)";
    text += '}';
  }
  if (!all.empty()) text += ']';
}

// Returns nothing if the JSON is not what append_ahead() writes.
std::optional<AheadFact> read_ahead(const nlohmann::json& json) {
  const auto text = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  AheadFact ahead{.workload = text("workload"), .uid = text("uid")};
  if (ahead.workload.empty() || ahead.uid.empty()) return std::nullopt;
  if (const std::string since = text("since"); !since.empty()) {
    const Result<Time> time = parse_time(since);
    if (!time) return std::nullopt;
    ahead.since = time->time_since_epoch().count();
  }
  const auto is = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_boolean() && found->get<bool>();
  };
  ahead.evicted = is("evicted");
  ahead.idle = is("idle");
  return ahead;
}

bool read_all_ahead(const nlohmann::json& entry, std::vector<AheadFact>& all) {
  const auto found = entry.find("ahead");
  if (found == entry.end()) return true;
  if (!found->is_array()) return false;
  for (const auto& item : *found) {
    std::optional<AheadFact> ahead = item.is_object() ? read_ahead(item) : std::nullopt;
    if (!ahead) return false;
    all.push_back(*std::move(ahead));
  }
  return true;
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
  if (entry.until != 0) text += fmt::format(R"(,"until":"{}")", moment(entry.until));
  append_ahead(text, entry.ahead);
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
  if (is_newer(entry.admission)) {
    if (!read_all_ahead(json, entry.ahead)) entry.ahead.clear();
    return entry;
  }
  if (const auto generation = json.find("generation");
      generation != json.end() && generation->is_number_integer())
    entry.generation = generation->get<std::int64_t>();
  if (!read_all_ahead(json, entry.ahead)) return std::nullopt;
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

namespace {

bool is_of_later_berth(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto version = json.is_object() ? json.value("version", nlohmann::json()) : json;
  return version.is_number_integer() && version > kRecordVersion;
}

// The next review drops the key, unless a later berth wrote it.
void put_aside(const std::string& key, std::string_view text, AdmissionLedger& ledger) {
  (is_of_later_berth(text) ? ledger.newer : ledger.unreadable).push_back(key);
}

// Keeps only the first mark of a workload, because two marks would contradict each other.
template <class Mark>
void read_mark(const std::string& key, std::string_view text, std::optional<Mark> mark,
               std::map<std::string, Mark, std::less<>>& marks, AdmissionLedger& ledger) {
  const bool fits = mark && std::ranges::none_of(marks, [&](const auto& other) {
                      return other.second.workload == mark->workload;
                    });
  if (fits)
    marks.emplace(key, *std::move(mark));
  else
    put_aside(key, text, ledger);
}

}  // namespace

bool is_admission_ledger(const ConfigMap& config_map) {
  return config_map.meta.name == names::kAdmissionsConfigMap &&
         config_map.meta.annotations.contains(names::kEpochAnnotation);
}

AdmissionLedger read_admissions(const ConfigMap& config_map) {
  AdmissionLedger ledger;
  ledger.config_map = &config_map;
  ledger.epoch = epoch_of(config_map);
  if (const Text* yields = config_map.meta.annotations.find(names::kYieldsAnnotation))
    ledger.yields = decode_yields(yields->view());
  if (const Text* since = config_map.meta.annotations.find(names::kEpochSinceAnnotation))
    if (const Result<Time> began = parse_time(since->view())) ledger.epoch_since = *began;
  if (const Text* heard = config_map.meta.annotations.find(names::kHeardAnnotation))
    ledger.heard = decode_heard(heard->view(), config_map.meta.resource_version);
  for (const auto& [uid, text] : config_map.data) {
    if (is_recall_key(uid)) {
      read_mark(uid, text, decode_recall(text), ledger.recalls, ledger);
      continue;
    }
    if (is_restart_key(uid)) {
      read_mark(uid, text, decode_restart(text), ledger.restarts, ledger);
      continue;
    }
    std::optional<LedgerFact> entry = decode_entry(text);
    if (entry && entry->admission.uid == uid)
      ledger.entries.emplace(uid, *std::move(entry));
    else
      put_aside(uid, text, ledger);
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
                       const LedgerChanges& changes, std::string reason, const Yields* yields) {
  const ConfigMap* standing = ledger.config_map;
  const std::string epoch = std::to_string(snapshot.epoch);
  // If this is empty, the annotation stays as it is.
  const std::string heard = is_behind(snapshot, ledger.heard)
                                ? std::string()
                                : encode_heard(heard_by_now(snapshot, ledger.heard));
  Write write;
  write.object = {"ConfigMap", snapshot.settings.berth_namespace, names::kAdmissionsConfigMap,
                  standing == nullptr ? std::string() : standing->meta.uid};
  write.field_manager = names::kManagerQueue;
  write.reason = std::move(reason);
  if (standing == nullptr) {
    write.verb = Verb::kCreate;
    write.body = fmt::format(
        R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":"{}","namespace":{},)"
        R"("labels":{{"{}":"berth","{}":"true"}},"annotations":{{"{}":"{}","{}":"{}"{}}}}},"data":{}}})",
        names::kAdmissionsConfigMap, quote_json(snapshot.settings.berth_namespace),
        names::kManagedByLabel, kNoBackupLabel, names::kEpochAnnotation, epoch,
        names::kEpochSinceAnnotation, format_time(snapshot.now),
        heard.empty() ? heard
                      : fmt::format(R"(,"{}":{})", names::kHeardAnnotation, quote_json(heard)),
        encode_data(changes));
    return write;
  }
  write.verb = Verb::kMergePatch;
  const bool blind = seeded(SeededBug::kAdmitWithoutVersion);
  MergePatch patch =
      blind ? MergePatch::same_object(standing->meta) : MergePatch::same_version(standing->meta);
  patch.annotation(names::kEpochAnnotation, epoch);
  if (ledger.epoch != snapshot.epoch)
    patch.annotation(names::kEpochSinceAnnotation, format_time(snapshot.now));
  if (!heard.empty()) patch.annotation(names::kHeardAnnotation, heard);
  if (yields != nullptr && *yields != ledger.yields) {
    if (yields->empty())
      patch.without_annotation(names::kYieldsAnnotation);
    else
      patch.annotation(names::kYieldsAnnotation, encode_yields(*yields));
  }
  write.body = patch.field("data", encode_data(changes)).str();
  return write;
}

}  // namespace berth::queue
