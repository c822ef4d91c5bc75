// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/nvidia/mounted_config.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "controller/sim/world/object_fields.h"
#include "controller/sim/world/object_state.h"

namespace berth::sim {

MountedConfig::MountedConfig(std::string in_namespace, std::string name, Span period)
    : namespace_(std::move(in_namespace)), name_(std::move(name)), period_(period) {}

bool MountedConfig::on_change(const Change& change, MonotonicTime now) {
  if (!is(change.key, "configmaps") || change.key.namespace_ != namespace_ ||
      change.key.name != name_)
    return false;
  const bool existed = std::exchange(exists_, change.kind != Change::Kind::kDeleted);
  if (!exists_) return false;  // a mounted ConfigMap stays mounted
  versions_.push_back({now, change.after});
  while (versions_.size() > 1 && versions_[1].since + period_ < now) versions_.pop_front();
  return !existed;
}

const PartedFile* MountedConfig::read(MonotonicTime mounted_at, Span phase, MonotonicTime now) {
  MonotonicTime looked_at = now;
  if (period_.count() > 0) {
    const Span since_looked = (now + period_ - phase % period_) % period_;
    looked_at = std::max(mounted_at, now - since_looked);
  }
  Version* seen = nullptr;
  for (Version& version : versions_)
    if (seen == nullptr || version.since <= looked_at) seen = &version;
  if (seen == nullptr) return nullptr;
  if (!seen->file) seen->file = parse_parted_file(text_at(*seen->object, {"data", "config.yaml"}));
  return &*seen->file;
}

}  // namespace berth::sim
