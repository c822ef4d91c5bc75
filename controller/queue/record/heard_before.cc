// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/record/heard_before.h"

#include <nlohmann/json.hpp>

namespace berth::queue {
namespace {

bool is_older(std::string_view version, std::string_view than) {
  const auto order = compare_resource_versions(version, than);
  return order && *order < 0;
}

std::string read_version(const nlohmann::json& json, const char* kind, std::string_view highest) {
  const auto found = json.find(kind);
  if (found == json.end() || !found->is_string()) return "";
  std::string version = found->get<std::string>();
  return is_older(version, highest) ? version : std::string();
}

std::string later_of(std::string version, const std::string& other) {
  HeardVersions::raise(version, other);
  return version;
}

}  // namespace

std::string encode_heard(const HeardBefore& heard) {
  nlohmann::json json = nlohmann::json::object();
  if (!heard.jobs.empty()) json["jobs"] = heard.jobs;
  if (!heard.pods.empty()) json["pods"] = heard.pods;
  if (json.empty()) return "";
  json["epoch"] = heard.epoch;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

HeardBefore decode_heard(std::string_view text, std::string_view ledger_version) {
  HeardBefore heard;
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return heard;
  const auto epoch = json.find("epoch");
  if (epoch != json.end() && epoch->is_number_integer()) heard.epoch = epoch->get<std::int64_t>();
  heard.jobs = read_version(json, "jobs", ledger_version);
  heard.pods = read_version(json, "pods", ledger_version);
  return heard;
}

// This leader wrote the ledger itself, so it knows what is in it. A live GET may have been ahead of
// the watch.
bool is_behind(const Snapshot& snapshot, const HeardBefore& before) {
  if (before.epoch == snapshot.epoch) return false;
  return is_older(snapshot.cluster.jobs().heard().all, before.jobs) ||
         is_older(snapshot.cluster.pods().heard().all, before.pods);
}

HeardBefore heard_by_now(const Snapshot& snapshot, const HeardBefore& before) {
  return {.epoch = snapshot.epoch,
          .jobs = later_of(before.jobs, snapshot.cluster.jobs().heard().last),
          .pods = later_of(before.pods, snapshot.cluster.pods().heard().last)};
}

}  // namespace berth::queue
