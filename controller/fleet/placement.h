// SPDX-License-Identifier: Apache-2.0
// Placement: which sets of MIG instances one GPU can hold. Exact: a set is valid if each instance
// gets one of its profile's starts, no two overlap, no profile exceeds its maximum, and the media
// engines suffice.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apis/mig_layout.h"
#include "controller/fleet/geometry.h"

namespace berth {

struct Placement {
  const Profile* profile = nullptr;  // of the product asked about
  int start = 0;                     // first memory unit
};

// One way to place the set, by start; nothing if there is none or a name is not a profile of the
// product. Zero counts are ignored. Counts of any size are answered at once: what exceeds a maximum
// is never searched.
std::optional<std::vector<Placement>> place(const Product& product, const ProfileCounts& counts);

// Every valid set but the empty one (all_layouts), or only those to which nothing can be added
// (valid_layouts: every valid set is a part of one of them). Those with more of the largest profile
// come first; profiles stand under their newest name.
std::vector<ProfileCounts> all_layouts(const Product& product);
std::vector<ProfileCounts> valid_layouts(const Product& product);

// Why the set can't be placed, as the middle of a sentence: "needs 9 of 8 memory units"; empty if
// it can. Names must be known, counts not negative.
std::string explain_misfit(const Product& product, const ProfileCounts& counts);

// The valid sets closest to a wish: fewest instances replaced, added or removed; among equals those
// that use more of the GPU come first.
std::vector<ProfileCounts> nearest_layouts(const Product& product, const ProfileCounts& wish,
                                           std::size_t at_most);

}  // namespace berth
