// SPDX-License-Identifier: Apache-2.0
// Story: describes one change in the store to a user who follows a rollout. Pure: it uses only the
// change and the store after it. Leases, heartbeats and bookkeeping give no lines.
#pragma once

#include <string>
#include <vector>

#include "controller/core/settings.h"
#include "controller/sim/world/store.h"

namespace berth {

struct StoryLine {
  std::string subject;  // "n3", "team-a/chat-x7k2p", "inference-a100"
  std::string text;
};
using Story = std::vector<StoryLine>;
// The start of lines about a node's allocatable.
inline constexpr char kOffers[] = "offers ";

// `settings` has the names of namespaces and ConfigMaps.
Story tell(const sim::Change& change, const sim::Store& store, const Settings& settings);

Story tell_node(const sim::Change& change, const sim::Store& store, const Settings& settings);
Story tell_pod(const sim::Change& change, const Settings& settings);
Story tell_conditioned(const sim::Change& change);  // a layout, the policy or a queue

// "berth" for all its replicas, else the user's name.
std::string who(const std::string& user);

}  // namespace berth
