// SPDX-License-Identifier: Apache-2.0
// Reference: the command line as a manual page, and as docs/cli.md.
#pragma once

#include <string>

#include "controller/cmd/line/command_tree.h"

namespace berth {

// For `man -l`. `version` and `date` (2026-11-23) are in its margins.
std::string manual_page(const CommandTree& tree, const std::string& version,
                        const std::string& date);
// GitHub's Markdown.
std::string markdown_reference(const CommandTree& tree);

}  // namespace berth
