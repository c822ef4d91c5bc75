// SPDX-License-Identifier: Apache-2.0
// Page: the fleet at a glance. Either its files for a server, or one HTML file that contains the
// state and loads nothing else.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"

namespace berth {

struct PageFile {
  std::string_view name;  // "mosaic.js"; empty: the page's HTML
  std::string_view content_type;
  std::string text;
};
// The files load each other by name, relative to the page's address.
std::span<const PageFile> page_files();

// `state`: a document of print_json() in page_state.h.
std::string print_page(const std::string& state);
// The same from a snapshot, with explanations of nodes that are out of service or in a rollout.
std::string print_page(const Snapshot& snapshot, const Clues& clues);

}  // namespace berth
