// SPDX-License-Identifier: Apache-2.0
#include "controller/policy/kept_plugin_keys.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "controller/core/plural.h"
#include "controller/fleet/node_facts.h"
#include "controller/policy/plugin_config.h"

namespace berth {
namespace {

// Whether the ConfigMap, which the device plugin's DaemonSet mounts, is a plugin config and not,
// for example, a script.
bool is_plugin_file(const ClusterState& cluster, const DaemonSet& set, const Text& name) {
  if (set.meta.name.find("device-plugin") == std::string::npos) return false;
  const ConfigMap* file = cluster.config_maps().find(set.meta.namespace_.view(), name.view());
  return file != nullptr && std::ranges::any_of(file->data, [](const auto& entry) {
           return entry.second.find("version: v1") != std::string::npos;
         });
}

}  // namespace

// The operator's setting comes before what its DaemonSets still mount, because it is about to
// change them.
PluginReader plugin_reader(const Snapshot& snapshot, const std::string& ours) {
  for (const auto& nvidia : snapshot.cluster.cluster_policies()) {
    const std::string& name = nvidia->device_plugin_config_map;
    if (!name.empty())
      return {.reads_ours = name == ours,
              .name = name,
              .default_key = nvidia->device_plugin_default_config};
  }
  PluginReader reader;
  const bool has_operator = snapshot.cluster.cluster_policies().size() > 0;
  for (const auto& set : snapshot.cluster.daemon_sets()) {
    if (set->meta.namespace_ != std::string_view(snapshot.settings.agents_namespace)) continue;
    for (const Text& name : set->config_map_volumes) {
      reader.reads_ours |= name == std::string_view(ours);
      if (!has_operator && is_plugin_file(snapshot.cluster, *set, name)) reader.name = name.str();
    }
  }
  // Without an operator, the plugin's own chart uses this key by default.
  if (!reader.name.empty()) reader.default_key = kDefaultPluginConfig;
  return reader;
}

KeptPluginKeys::KeptPluginKeys(const Snapshot& snapshot, const std::string& ours,
                               const std::map<std::string, std::string>& planned,
                               const std::set<std::string>& named)
    : snapshot_(snapshot),
      ours_(ours),
      reader_(plugin_reader(snapshot, ours)),
      default_key_(kDefaultPluginConfig) {
  const auto& files = snapshot.cluster.config_maps();
  standing_ = files.find(snapshot.settings.agents_namespace, ours);
  if (!reader_.reads_ours && !reader_.name.empty())
    read_ = files.find(snapshot.settings.agents_namespace, reader_.name);
  const auto planned_at = [&](const std::string& key) {
    const auto found = planned.find(key);
    return found == planned.end() ? nullptr : &found->second;
  };
  for (const std::string& key : named) keep(key, planned_at(key));
  const std::string& theirs = reader_.default_key;
  // If the other file lacks its default key, no node uses it now.
  if (theirs.empty() || (read_ != nullptr && !read_->data.contains(theirs))) return;
  default_key_ = theirs;
  keep(theirs, planned_at(theirs));
}

void KeptPluginKeys::keep(const std::string& key, const std::string* planned) {
  const auto text_in = [&](const ConfigMap* file) -> const std::string* {
    if (file == nullptr) return nullptr;
    const auto found = file->data.find(key);
    return found == file->data.end() ? nullptr : &found->second;
  };
  const std::string* own = planned != nullptr ? planned : text_in(standing_);
  const std::string* theirs = text_in(read_);
  if (theirs == nullptr) {
    // berth's own text can't replace a default that berth can't read.
    const bool unread_default = own != nullptr && is_berths_default(key, *own) &&
                                read_ == nullptr && !reader_.reads_ours &&
                                key == reader_.default_key;
    if (own == nullptr || unread_default) missing_.insert(key);
  } else if (own == nullptr || is_berths_default(key, *own)) {
    copied_[key] = *theirs;
  } else if (*own != *theirs) {
    differ_.insert(key);
  }
}

std::vector<std::string> KeptPluginKeys::users_of(const Keys& keys) const {
  std::vector<std::string> users;
  for (const auto& node : snapshot_.cluster.nodes()) {
    if (!has_gpus(*node)) continue;
    const std::string named(label_of(*node, names::kDevicePluginConfig));
    if (keys.contains(named.empty() ? reader_.default_key : named))
      users.push_back(node->meta.name);
  }
  return users;
}

std::optional<Cause> KeptPluginKeys::lost() const {
  if (auto why = told(differ_, true)) return why;
  return told(missing_, false);
}

std::optional<Cause> KeptPluginKeys::told(const Keys& keys, bool differ) const {
  const std::vector<std::string> users = users_of(keys);
  if (users.empty()) return std::nullopt;  // no device plugin runs there
  const std::string which =
      fmt::format("{} {}", word_for(static_cast<std::int64_t>(keys.size()), "key", "keys"),
                  list_first({keys.begin(), keys.end()}, 3));
  const std::string who = fmt::format("{} ({})", list_first(users, 3),
                                      plural(static_cast<std::int64_t>(users.size()), "node"));
  const std::string file = fmt::format("{}/{}", snapshot_.settings.agents_namespace, ours_);
  if (differ)
    return Cause{reasons::kPluginKeysMissing,
                 fmt::format("remove {} from ConfigMap {}, and berth copies what ConfigMap {} has "
                             "there: the texts differ, and {} would offer other resources",
                             which, file, reader_.name, who)};
  return Cause{reasons::kPluginKeysMissing,
               fmt::format("put {} into ConfigMap {}: without {} the device plugin stops on {}; {}",
                           which, file, keys.size() == 1 ? "it" : "them", who,
                           !reader_.name.empty() && !reader_.reads_ours && read_ == nullptr
                               ? fmt::format("berth can't read ConfigMap {}", reader_.name)
                               : std::string("the file that it reads has no such key"))};
}

}  // namespace berth
