// SPDX-License-Identifier: Apache-2.0
// Placement: which sets of MIG instances one GPU can hold. The answer is exact: a set is valid if
// each instance gets one of its profile's starts, no two overlap, no profile exceeds its maximum,
// and the media engines suffice.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apis/kinds/mig_layout.h"
#include "controller/fleet/geometry.h"

namespace berth {

struct Placement {
  const Profile* profile = nullptr;  // of the same product
  int start = 0;                     // first memory unit
};

// Returns one way to place the set, by start; nothing if there is none or a name is not a profile
// of the product. It ignores zero counts. It answers large counts at once, because it never
// searches for more than a maximum.
std::optional<std::vector<Placement>> place(const Product& product, const ProfileCounts& counts);

// all_layouts() returns every valid set except the empty one. valid_layouts() returns only those to
// which nothing can be added; every valid set is a part of one of them. Sets with more of the
// largest profile come first. Profiles have their newest names.
std::vector<ProfileCounts> all_layouts(const Product& product);
std::vector<ProfileCounts> valid_layouts(const Product& product);

// Returns why the set can't be placed, as the middle of a sentence: "needs 9 of 8 memory units";
// empty if it can. Names must be known, and counts not negative.
std::string explain_misfit(const Product& product, const ProfileCounts& counts);

// Returns the valid sets closest to a wish: those with the fewest instances replaced, added or
// removed. Among equals, those that use more of the GPU come first.
std::vector<ProfileCounts> nearest_layouts(const Product& product, const ProfileCounts& wish,
                                           std::size_t at_most);

}  // namespace berth
