// SPDX-License-Identifier: Apache-2.0
// Story: what one change in the store means to somebody who follows a rollout. Pure: the change,
// and the store as it then stands. Leases, heartbeats and bookkeeping mean nothing.
#pragma once

#include <string>
#include <vector>

#include "controller/core/settings.h"
#include "controller/sim/store.h"

namespace berth {

struct StoryLine {
  std::string subject;  // "n3", "team-a/chat-x7k2p", "inference-a100"
  std::string text;
};
using Story = std::vector<StoryLine>;
// How lines about a node's allocatable begin.
inline constexpr char kOffers[] = "offers ";

// Which settings and whose agents: names of namespaces and ConfigMaps.
Story tell(const sim::Change& change, const sim::Store& store, const Settings& settings);

Story tell_node(const sim::Change& change, const sim::Store& store, const Settings& settings);
Story tell_pod(const sim::Change& change, const Settings& settings);
Story tell_conditioned(const sim::Change& change);  // a layout, the policy or a queue

// "berth" for its replicas, else the user as he is.
std::string who(const std::string& user);

}  // namespace berth
