// SPDX-License-Identifier: Apache-2.0
// Page: the fleet at a glance, as one HTML file that carries its state and asks nobody for more.
#pragma once

#include <string>

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"

namespace berth {

std::string print_page(const Snapshot& snapshot, const Clues& clues);

}  // namespace berth
