// SPDX-License-Identifier: Apache-2.0
#include "apis/kinds/meta.h"

#include <algorithm>

namespace berth {
namespace {

bool is_ordered_version(std::string_view version) {
  return !version.empty() && version.front() >= '1' && version.front() <= '9' &&
         std::all_of(version.begin(), version.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

const OwnerReference* ObjectMeta::controller() const {
  for (const OwnerReference& owner : owner_references) {
    if (owner.controller) return &owner;
  }
  return nullptr;
}

bool ObjectMeta::operator==(const ObjectMeta& other) const {
  return name == other.name && namespace_ == other.namespace_ && uid == other.uid &&
         generation == other.generation && creation_timestamp == other.creation_timestamp &&
         deletion_timestamp == other.deletion_timestamp && labels == other.labels &&
         annotations == other.annotations && owner_references == other.owner_references &&
         finalizers == other.finalizers;
}

std::string api_version(const KindInfo& info) {
  if (info.group.empty()) return std::string(info.version);
  return std::string(info.group) + "/" + std::string(info.version);
}

std::optional<std::strong_ordering> compare_resource_versions(std::string_view a,
                                                              std::string_view b) {
  if (!is_ordered_version(a) || !is_ordered_version(b)) return std::nullopt;
  if (a.size() != b.size()) return a.size() <=> b.size();
  return a.compare(b) <=> 0;
}

}  // namespace berth
