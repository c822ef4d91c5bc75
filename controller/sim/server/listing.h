// SPDX-License-Identifier: Apache-2.0
// Listing: a collection, whole or in pages. All pages of one list show the same revision. Once that
// revision is compacted, the next page is a 410.
#pragma once

#include <string>

#include "controller/sim/server/target.h"
#include "controller/sim/world/store.h"

namespace berth::sim {

// The list as JSON text. Throws a Refusal.
std::string list_objects(const Store& store, const Target& target);
// Checks resourceVersionMatch and related options; throws a Refusal.
void check_list_options(const Target& target, bool watch);

}  // namespace berth::sim
