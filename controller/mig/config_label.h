// SPDX-License-Identifier: Apache-2.0
// Values of the label nvidia.com/mig.config: a config's name, or one of its aliases
// (agent_config.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth {

// Returns the config that a value of nvidia.com/mig.config names, without the alias suffix.
std::string base_config(std::string_view label);
// Whether a value of nvidia.com/mig.config names the config or one of its aliases.
bool names_config(std::string_view label, std::string_view config);
// Returns the label value that makes the mig-manager run: the config's name, or the next alias if
// the node already has the name or an alias. Nothing if the name is too long for aliases.
std::optional<std::string> next_label(std::string_view config, std::string_view current_label);

}  // namespace berth
