// SPDX-License-Identifier: Apache-2.0
// Page: the fleet at a glance. Its files, for a server to hand out; or all of them as one HTML file
// that carries its state and asks nobody for more.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "controller/core/snapshot.h"
#include "controller/dump/clues.h"

namespace berth {

struct PageFile {
  std::string_view name;  // "mosaic.js"; empty: the page itself
  std::string_view content_type;
  std::string text;
};
// They load each other by name, relative to the page's own address.
std::span<const PageFile> page_files();

// `state` is a document as print_json() of page_state.h writes it.
std::string print_page(const std::string& state);
// And what is the matter with the nodes that are out of service, or about to be cut anew.
std::string print_page(const Snapshot& snapshot, const Clues& clues);

}  // namespace berth
