// SPDX-License-Identifier: Apache-2.0
#include "controller/advise/model_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "apis/base/gpu_resource.h"
#include "apis/base/quantity.h"
#include "controller/fleet/allocatable.h"

namespace berth::advise {
namespace {

constexpr std::int64_t kMillion = 1'000'000;
constexpr std::int64_t kBillion = 1'000 * kMillion;
constexpr std::int64_t kGiB = std::int64_t{1} << 30;

// The shapes of Llama 3, all with eight key-value heads. A size in between uses the next larger
// shape.
struct Shape {
  std::int64_t parameters;
  int layers;
  int head;  // values of one head per token
};
constexpr int kHeads = 8;
constexpr std::array kShapes = {Shape{1'300 * kMillion, 16, 64}, Shape{3'300 * kMillion, 28, 128},
                                Shape{9 * kBillion, 32, 128}, Shape{72 * kBillion, 80, 128},
                                Shape{405 * kBillion, 126, 128}};

const Shape& shape_of(std::int64_t parameters) {
  const auto* found = std::ranges::find_if(
      kShapes, [&](const Shape& shape) { return shape.parameters >= parameters; });
  return found == kShapes.end() ? kShapes.back() : *found;
}

}  // namespace

std::string in_gib(std::int64_t bytes) {
  return fmt::format("{:.1f}GiB", static_cast<double>(bytes) / static_cast<double>(kGiB));
}

std::int64_t usable_bytes(const Product& product, int units) {
  return product.memory_gb * kGiB / 10 * 9 * units / product.memory_units;
}

Result<std::int64_t> parse_parameters(std::string_view text) {
  constexpr char kHint[] = "write it as 70B or 350M, from 1M to 405B";
  if (text.empty() || std::string_view("BbMm").find(text.back()) == std::string_view::npos)
    return invalid_spec("--model", kHint);
  const bool billions = text.back() == 'B' || text.back() == 'b';
  const auto number =
      Quantity::parse(std::string(text.substr(0, text.size() - 1)) + (billions ? "G" : "M"));
  if (!number) return invalid_spec("--model", kHint);
  const std::int64_t parameters = number->rounded_up();
  if (parameters < kMillion || parameters > kShapes.back().parameters)
    return invalid_spec("--model", kHint);
  return parameters;
}

int bits_of(std::string_view precision) {
  if (precision == "fp32") return 32;
  if (precision == "fp16" || precision == "bf16") return 16;
  return precision == "int4" ? 4 : 8;
}

ModelMemory memory_of(const Model& model) {
  const Shape& shape = shape_of(model.parameters);
  // Models with smaller weights still keep keys and values in 16 bits.
  const std::int64_t each = std::max(model.bits, 16) / 8;
  const std::int64_t token = 2 * each * shape.layers * kHeads * shape.head;
  return {.weights = (model.parameters * model.bits + 7) / 8,
          .cache = token * model.tokens * model.sequences};
}

Share smallest_share(const Product& product, std::int64_t bytes) {
  const Profile* best = nullptr;
  for (const Profile& profile : product.profiles) {
    if (!profile.attributes.empty() || profile.memory_units == product.memory_units) continue;
    if (usable_bytes(product, profile.memory_units) < bytes) continue;
    const auto size = [](const Profile& p) { return std::pair(p.memory_units, p.compute_slices); };
    if (best == nullptr || size(profile) < size(*best)) best = &profile;
  }
  if (best != nullptr)
    return {mig_resource_name(best->name), 1, usable_bytes(product, best->memory_units)};
  const std::int64_t whole = usable_bytes(product, product.memory_units);
  for (int count = 1; count <= kMaxGpus; count *= 2)
    if (whole * count >= bytes) return {std::string(kGpuResource), count, whole * count};
  return {};
}

}  // namespace berth::advise
