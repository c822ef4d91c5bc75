// SPDX-License-Identifier: Apache-2.0
#include "controller/policy/plugin_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "apis/base/names.h"
#include "controller/core/json_patch.h"
#include "controller/core/merge_patch.h"
#include "controller/fleet/node_facts.h"
#include "controller/mig/dropped_config.h"
#include "controller/mig/preflight.h"

namespace berth {
namespace {

std::string entry(const std::string& key, const std::string& json) {
  return fmt::format("{}:{}", quote_json(key), json);
}

std::set<std::string> key_named_by(const Node& node) {
  return {std::string(label_of(node, names::kDevicePluginConfig))};
}

}  // namespace

PluginFile::PluginFile(const Snapshot& snapshot, const std::string& name,
                       const std::vector<PoolSpec>& pools,
                       const std::set<std::string>& named_by_nodes)
    : snapshot_(snapshot),
      name_(name),
      standing_(snapshot.cluster.config_maps().find(snapshot.settings.agents_namespace, name)) {
  static const std::map<std::string, std::string> kNothing;
  std::set<std::string> named = named_by_nodes;
  if (const PluginReader reader = plugin_reader(snapshot, name); !reader.default_key.empty())
    named.insert(reader.default_key);
  wanted_ = plugin_configs(pools, standing_ != nullptr ? standing_->data : kNothing, named);
  if (std::ranges::any_of(
          pools, [](const PoolSpec& pool) { return render_plugin_config(pool).has_value(); })) {
    kept_.emplace(snapshot, name, wanted_, named_by_nodes);
    for (const auto& [key, text] : kept_->copied()) wanted_[key] = text;
  }
  // No pool asks for a config, and berth creates no file for the default alone.
  if (standing_ == nullptr && wanted_.size() == 1) wanted_.clear();
}

bool PluginFile::serves(const PluginConfig& config) const {
  if (standing_ == nullptr || settles_at()) return false;
  const auto found = standing_->data.find(config.key);
  return found != standing_->data.end() && found->second == config.text;
}

std::optional<Time> PluginFile::settles_at() const {
  if (standing_ == nullptr) return std::nullopt;
  const Text* text = standing_->meta.annotations.find(kRenderedAtAnnotation);
  // Without the annotation, the file existed before berth first wrote it.
  if (text == nullptr) return std::nullopt;
  const Result<Time> written = parse_time(text->view());
  if (!written.has_value()) return std::nullopt;
  const Time settled = *written + snapshot_.settings.agent_config_map_delay;
  return snapshot_.now < settled && *written <= snapshot_.now ? std::optional(settled)
                                                              : std::nullopt;
}

std::string PluginFile::shared_default() const {
  const std::string key = kept_ ? kept_->default_key() : kDefaultPluginConfig;
  auto text = wanted_.find(key);
  if (text == wanted_.end() && standing_ != nullptr) {
    const auto stands = standing_->data.find(key);
    return stands != standing_->data.end() && mentions_sharing(stands->second) ? key : "";
  }
  return text != wanted_.end() && mentions_sharing(text->second) ? key : "";
}

bool PluginFile::ends_sharing() const {
  const PluginReader reader = plugin_reader(snapshot_, name_);
  if (!reader.reads_ours || standing_ == nullptr) return false;
  const auto text =
      standing_->data.find(reader.default_key.empty() ? kDefaultPluginConfig : reader.default_key);
  return text != standing_->data.end() && !mentions_sharing(text->second);
}

bool PluginFile::up_to_date() const {
  if (standing_ == nullptr) return wanted_.empty();
  for (const auto& [key, text] : wanted_) {
    const auto found = standing_->data.find(key);
    if (found == standing_->data.end() || found->second != text) return false;
  }
  return superfluous().empty();
}

// Keys of other users stay.
std::set<std::string> PluginFile::superfluous() const {
  std::set<std::string> keys;
  if (standing_ == nullptr) return keys;
  for (const auto& [key, text] : standing_->data)
    if (is_berths_plugin_key(key) && !wanted_.contains(key)) keys.insert(key);
  return keys;
}

Write PluginFile::create() const {
  std::vector<std::string> data;
  for (const auto& [key, text] : wanted_) data.push_back(entry(key, quote_json(text)));
  Write write;
  write.verb = Verb::kCreate;
  // No label app.kubernetes.io/managed-by: Helm would refuse the ConfigMap if the chart is
  // installed later.
  write.body =
      fmt::format(R"({{"apiVersion":"v1","kind":"ConfigMap","metadata":{{"name":{},"namespace":{},)"
                  R"("annotations":{{"{}":"{}"}}}},"data":{{{}}}}})",
                  quote_json(name_), quote_json(snapshot_.settings.agents_namespace),
                  kRenderedAtAnnotation, format_micro_time(snapshot_.now), fmt::join(data, ","));
  return write;
}

Write PluginFile::change() const {
  std::vector<std::string> data;
  bool adds = false;
  for (const auto& [key, text] : wanted_) {
    const auto found = standing_->data.find(key);
    if (found != standing_->data.end() && found->second == text) continue;
    data.push_back(entry(key, quote_json(text)));
    adds = true;
  }
  for (const std::string& key : superfluous()) data.push_back(entry(key, "null"));
  // No node has to wait after a removal of keys.
  MergePatch patch = MergePatch::same_version(standing_->meta);
  if (adds) patch.annotation(kRenderedAtAnnotation, format_micro_time(snapshot_.now));
  Write write;
  write.verb = Verb::kMergePatch;
  write.body = patch.field("data", fmt::format("{{{}}}", fmt::join(data, ","))).str();
  return write;
}

void PluginFile::plan(Plan& plan) const {
  if (up_to_date()) return;
  Write write = standing_ == nullptr ? create() : change();
  write.object = {"ConfigMap", snapshot_.settings.agents_namespace, name_,
                  standing_ != nullptr ? standing_->meta.uid : std::string()};
  write.field_manager = names::kManagerPolicy;
  write.reason = "render the pools into the device plugin's file";
  const ObjectRef object = write.object;
  if (std::set<std::string> dropped = superfluous(); !dropped.empty() && !snapshot_.offline)
    plan.add(object, nobody_names(object, std::move(dropped), key_named_by));
  plan.add(object, std::move(write));
}

}  // namespace berth
