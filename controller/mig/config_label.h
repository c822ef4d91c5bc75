// SPDX-License-Identifier: Apache-2.0
// Values of the label nvidia.com/mig.config: a config's name, or one of its aliases
// (agent_config.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth {

// The config behind a value of nvidia.com/mig.config, its alias suffix taken off.
std::string base_config(std::string_view label);
// Whether a value of nvidia.com/mig.config names the config or one of its aliases.
bool names_config(std::string_view label, std::string_view config);
// The value to write so that the agent runs: the config's name, or, where the node has that or an
// alias already, the next alias. Nothing if the config's name is too long to have aliases.
std::optional<std::string> next_label(std::string_view config, std::string_view current_label);

}  // namespace berth
