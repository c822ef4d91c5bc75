// SPDX-License-Identifier: Apache-2.0
// PageState: what the page shows, piece by piece: nodes with what they offer and who holds it,
// queues, rollouts, and what waits with its reason and its remedies. Each piece is compact JSON, so
// that two states are compared, and told apart to whoever watches, without being read again.
#pragma once

#include <map>
#include <string>

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"
#include "controller/page/viewer_rights.h"

namespace berth {

inline constexpr char kPageApiVersion[] = "page.gpu.berth.dev/v1";

struct PageState {
  // By what the page calls them: "nodes", "waiting", "queues", "layouts"; each an object by its
  // name.
  std::map<std::string, std::map<std::string, std::string>> things;
  // Whole values: "takenAt", "pools", "costs", and "waitingOf": whether "waiting" has the work of
  // all namespaces, of some, or of none, since none may be listed.
  std::map<std::string, std::string> values;
  bool operator==(const PageState&) const = default;
};

// Equal snapshots give equal states.
PageState page_state(const Snapshot& snapshot, const Clues& clues);
// To somebody with these rights: what he may not list is neither named nor worded, and what it
// holds is counted.
PageState page_state(const Snapshot& all, const ViewerRights& rights);

// One JSON document; `id` is how a page names it to be told what came after, empty: nothing does.
// `more` is further fields, each as `,"name":value`.
std::string print_json(const PageState& state, const std::string& id = {},
                       const std::string& more = {});

// What of `after` is not in `before`, and what is gone: {"set":…,"gone":…,"values":…}. Parts that
// say nothing are left out.
std::string print_changes(const PageState& before, const PageState& after);

}  // namespace berth
