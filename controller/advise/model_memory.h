// SPDX-License-Identifier: Apache-2.0
// ModelMemory: how much GPU memory a language model needs for inference, computed from its size,
// and the smallest share of each product with that memory. An estimate; docs/advise.md has the
// formula.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/result.h"
#include "controller/fleet/geometry.h"

namespace berth::advise {

struct Model {
  std::int64_t parameters = 0;
  int bits = 16;               // per weight
  std::int64_t tokens = 8192;  // the maximum of one sequence
  std::int64_t sequences = 1;  // in parallel
};

// Parses "70B", "0.5B" or "350M". The range is 1 million to 405 billion, the largest known shape.
Result<std::int64_t> parse_parameters(std::string_view text);
inline constexpr const char* kPrecisions[] = {"fp32", "fp16", "bf16", "fp8", "int8", "int4"};
// The bits of one precision, for example 16 for "fp16".
int bits_of(std::string_view precision);

struct ModelMemory {
  std::int64_t weights = 0;  // bytes
  std::int64_t cache = 0;    // of keys and values
  std::int64_t total() const { return weights + cache; }
};
ModelMemory memory_of(const Model& model);

// For example "132.9GiB".
std::string in_gib(std::int64_t bytes);

// The usable part of so many units of a GPU's memory. Inference servers take nine tenths; the rest
// is for the driver and for temporary memory of requests.
std::int64_t usable_bytes(const Product& product, int units);

// All on one node; berth does not advise on models that need several nodes.
inline constexpr int kMaxGpus = 8;

struct Share {
  std::string resource;  // "nvidia.com/mig-3g.40gb"; empty: no node has enough
  int count = 0;
  std::int64_t usable = 0;  // bytes, of all of them
};
// One MIG instance, since a model can't be spread over several; else 1, 2, 4 or 8 GPUs.
Share smallest_share(const Product& product, std::int64_t bytes);

}  // namespace berth::advise
