// SPDX-License-Identifier: Apache-2.0
// How much of GPUs' memory a container can load into what it asks for on a node: by the node's
// labels and the table of products, and nothing where these don't tell.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apis/core.h"
#include "controller/advise/model_memory.h"
#include "controller/fleet/node_facts.h"

namespace berth::advise {

// What a pod's annotation gpu.berth.dev/required-gpu-memory says, in bytes; nothing if it is no
// size above 0.
std::optional<std::int64_t> required_memory(std::string_view annotation);

// Of one whole GPU, nine tenths of what it has.
std::optional<std::int64_t> usable_of_whole(const Inventory& gpus);

// Nine tenths of what it has (usable_bytes). What can't be spread over several counts once: MIG
// instances, and parts of shared GPUs, of which more may lie on the same one. Under time-slicing
// each part sees the whole GPU; MPS allots the memory in equal parts.
std::optional<std::int64_t> usable_on(const Node& node, std::string_view resource,
                                      std::int64_t count);

// The fewest of the resource there that hold so much: 1 of what can't be spread, else 1, 2, 4 or 8
// whole GPUs, if the node has so many. Never a part of a shared GPU: a larger request must not cost
// anybody his isolation. A count of 0: they don't hold it, or nothing tells.
Share fewest_on(const Node& node, std::string_view resource, std::int64_t bytes);

// Of the two that which holds enough in less; one of no GPUs is none.
const Share& smaller(const Share& a, const Share& b);

// What to ask for instead: "ask for 2 nvidia.com/gpu", or that nothing a namespace may use does.
std::string ask_instead(const Share& share);

}  // namespace berth::advise
