// SPDX-License-Identifier: Apache-2.0
// ModelMemory: how much of GPUs' memory a language model takes to answer, from its size alone, and
// the smallest share of each product that has so much. An estimate: docs/advise.md has the formula.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apis/result.h"
#include "controller/fleet/geometry.h"

namespace berth::advise {

struct Model {
  std::int64_t parameters = 0;
  int bits = 16;               // of a weight
  std::int64_t tokens = 8192;  // that one sequence may have
  std::int64_t sequences = 1;  // at a time
};

// "70B", "0.5B", "350M"; of 1 million to 405 billion, the largest whose shape is known.
Result<std::int64_t> parse_parameters(std::string_view text);
inline constexpr const char* kPrecisions[] = {"fp32", "fp16", "bf16", "fp8", "int8", "int4"};
// Of one of these: "fp16" → 16.
int bits_of(std::string_view precision);

struct ModelMemory {
  std::int64_t weights = 0;  // bytes
  std::int64_t cache = 0;    // of keys and values
  std::int64_t total() const { return weights + cache; }
};
ModelMemory memory_of(const Model& model);

// "132.9GiB".
std::string in_gib(std::int64_t bytes);

// Of so many units of a GPU's memory: inference servers take nine tenths of what there is; the rest
// is left to the driver and to what a request needs for a moment.
std::int64_t usable_bytes(const Product& product, int units);

// GPUs of one node: more than so many is another kind of question.
inline constexpr int kMaxGpus = 8;

struct Share {
  std::string resource;  // "nvidia.com/mig-3g.40gb"; empty: no node has enough
  int count = 0;
  std::int64_t usable = 0;  // bytes, of all of them
};
// One MIG instance, as a model can't be spread over several; else 1, 2, 4 or 8 GPUs.
Share smallest_share(const Product& product, std::int64_t bytes);

}  // namespace berth::advise
