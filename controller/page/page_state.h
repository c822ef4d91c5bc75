// SPDX-License-Identifier: Apache-2.0
// PageState: the content of the page in pieces: nodes with their resources and holders, queues,
// rollouts, and pending workloads with reason and remedies. Each piece is compact JSON, so that two
// states can be compared, and a change can be sent, without parsing.
#pragma once

#include <map>
#include <string>

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"
#include "controller/page/viewer_rights.h"

namespace berth {

inline constexpr char kPageApiVersion[] = "page.gpu.berth.dev/v1";

struct PageState {
  // By kind ("nodes", "waiting", "queues", "layouts"), then by name.
  std::map<std::string, std::map<std::string, std::string>> things;
  // Single values: "takenAt", "pools", "costs" and "waitingOf". The latter says whether "waiting"
  // has the workloads of all namespaces, of some, or of none, by the viewer's rights.
  std::map<std::string, std::string> values;
  bool operator==(const PageState&) const = default;
};

// Equal snapshots give equal states.
PageState page_state(const Snapshot& snapshot, const Clues& clues);
// For a viewer with these rights. Objects that the viewer may not list are not named, not even in
// messages; what they hold is counted.
PageState page_state(const Snapshot& all, const ViewerRights& rights);

// One JSON document. `id` identifies it in later requests for changes; empty: there will be none.
// `more` is further fields, each as `,"name":value`.
std::string print_json(const PageState& state, const std::string& id = {},
                       const std::string& more = {});

// The changes from `before` to `after`: {"set":…,"gone":…,"values":…}. Empty parts are left out.
std::string print_changes(const PageState& before, const PageState& after);

}  // namespace berth
