// SPDX-License-Identifier: Apache-2.0
// Target: what the path and query of a request name.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "controller/sim/world/resource_type.h"

namespace berth::sim {

struct Target {
  enum class What { kNothing, kVersion, kDiscovery, kResource };
  What what = What::kNothing;
  std::string group;  // of discovery and resources
  std::string version;
  const ResourceType* type = nullptr;
  std::string namespace_;
  std::string name;  // empty: the collection
  std::string subresource;
  std::map<std::string, std::string> query;

  std::string option(const std::string& key) const;  // empty if not given
  bool flag(const std::string& key) const;
};

// Never fails: an unknown path is kNothing.
Target parse_target(std::string_view target);

// A resourceVersion from a client; nullopt if it is no whole number.
std::optional<std::int64_t> parse_revision(std::string_view text);

}  // namespace berth::sim
