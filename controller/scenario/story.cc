// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/story.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apis/base/names.h"
#include "controller/sim/world/object_fields.h"

namespace berth {
namespace {

using nlohmann::json;
using sim::text_at;

// berth's own events, if the objects do not show the reason: warnings, and a node put back
// unchanged.
Story tell_event(const sim::Change& change) {
  if (change.kind != sim::Change::Kind::kAdded || !change.user.starts_with("berth")) return {};
  const json& event = *change.after;
  const std::string reason = text_at(event, {"reason"});
  if (reason == "RolloutFailed") return {};  // the node's annotation says the same
  if (text_at(event, {"type"}) != "Warning" && reason != "Restored") return {};
  return {{text_at(event, {"regarding", "name"}),
           fmt::format("{}: {}", reason, text_at(event, {"note"}))}};
}

Story tell_agents_file(const sim::Change& change, const Settings& settings) {
  const bool ours = change.key.namespace_ == settings.agents_namespace &&
                    change.key.name == settings.mig_config_map &&
                    change.kind != sim::Change::Kind::kDeleted;
  if (!ours) return {};
  return {{"agents' file", fmt::format("{} by {}; kubelets bring it to the agents in a while",
                                       change.before ? "rewritten" : "written", who(change.user))}};
}

}  // namespace

Story tell(const sim::Change& change, const sim::Store& store, const Settings& settings) {
  const std::string_view plural = change.key.type->plural;
  if (plural == "nodes") return tell_node(change, store, settings);
  if (plural == "pods") return tell_pod(change, settings);
  if (plural == "miglayouts" || plural == "gpuclusterpolicies" || plural == "gpuqueues")
    return tell_conditioned(change);
  if (plural == "events") return tell_event(change);
  if (plural == "configmaps") return tell_agents_file(change, settings);
  return {};
}

std::string who(const std::string& user) { return user.starts_with("berth") ? "berth" : user; }

}  // namespace berth
