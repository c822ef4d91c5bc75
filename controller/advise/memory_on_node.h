// SPDX-License-Identifier: Apache-2.0
// How much GPU memory a container can use with a given resource request on a node. The sources are
// the node's labels and the table of products. Without them the functions return nullopt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apis/kinds/core.h"
#include "controller/advise/model_memory.h"
#include "controller/fleet/node_facts.h"

namespace berth::advise {

// The value of a pod's annotation gpu.berth.dev/required-gpu-memory, in bytes. nullopt: it is not a
// size above 0.
std::optional<std::int64_t> required_memory(std::string_view annotation);

// Nine tenths of the memory of one whole GPU.
std::optional<std::int64_t> usable_of_whole(const Inventory& gpus);

// Nine tenths of the memory (usable_bytes). Memory of several whole GPUs adds up. A container can't
// combine several MIG instances, or several replicas of shared GPUs, which may be on the same GPU,
// so these count once. With time-slicing each replica sees the whole GPU; MPS allots equal parts.
std::optional<std::int64_t> usable_on(const Node& node, std::string_view resource,
                                      std::int64_t count);

// The smallest count of the resource with that much memory: 1 for MIG instances, else 1, 2, 4 or 8
// whole GPUs, if the node has that many. Never a replica of a shared GPU, because that would weaken
// the user's isolation. A count of 0: the node has too little memory, or its memory is unknown.
Share fewest_on(const Node& node, std::string_view resource, std::int64_t bytes);

// The share with less usable memory; a share without GPUs loses.
const Share& smaller(const Share& a, const Share& b);

// The advice in a message: "ask for 2 nvidia.com/gpu", or that no allowed resource has the memory.
std::string ask_instead(const Share& share);

}  // namespace berth::advise
