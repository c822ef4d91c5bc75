// SPDX-License-Identifier: Apache-2.0
// The memory of models, computed by hand from the formula in docs/advise.md.
#include "controller/advise/model_memory.h"

#include <gtest/gtest.h>

namespace berth::advise {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

std::string share(const char* gpu, std::int64_t bytes) {
  const Share share = smallest_share(*find_product_by_model(gpu), bytes);
  return share.count == 0 ? "none" : std::to_string(share.count) + " " + share.resource;
}

TEST(ModelMemory, ReadsSizes) {
  EXPECT_EQ(parse_parameters("70B").value(), 70'000'000'000);
  EXPECT_EQ(parse_parameters("0.5b").value(), 500'000'000);
  EXPECT_EQ(parse_parameters("350M").value(), 350'000'000);
  EXPECT_EQ(parse_parameters("405B").value(), 405'000'000'000);
  for (const char* text : {"", "B", "70", "70G", "70GB", "-1B", "0B", "406B", "nanB", "1e30B",
                           "99999999999999999999B", "70 B"})
    EXPECT_FALSE(parse_parameters(text)) << text;
}

TEST(ModelMemory, WeightsAndTheCacheOfEachToken) {
  const ModelMemory large = memory_of({.parameters = 70'000'000'000, .bits = 16});
  EXPECT_EQ(large.weights, 140'000'000'000);
  // Keys and values: 80 layers of 8 heads of 128 numbers of 2 bytes.
  EXPECT_EQ(large.cache, 2LL * 80 * 8 * 128 * 2 * 8192);

  const ModelMemory small =
      memory_of({.parameters = 8'000'000'000, .bits = 4, .tokens = 1000, .sequences = 3});
  EXPECT_EQ(small.weights, 4'000'000'000);
  EXPECT_EQ(small.cache, 2LL * 32 * 8 * 128 * 2 * 3000) << "of 16 bits, whatever the weights have";
}

TEST(ModelMemory, EachPrecisionHasItsBits) {
  EXPECT_EQ(bits_of("fp32"), 32);
  EXPECT_EQ(bits_of("fp16"), 16);
  EXPECT_EQ(bits_of("bf16"), 16);
  EXPECT_EQ(bits_of("fp8"), 8);
  EXPECT_EQ(bits_of("int8"), 8);
  EXPECT_EQ(bits_of("int4"), 4);
}

TEST(ModelMemory, ALargerModelNeverTakesLess) {
  ModelMemory before;
  for (std::int64_t parameters = 1'000'000; parameters <= 405'000'000'000; parameters *= 2) {
    const ModelMemory memory = memory_of({.parameters = parameters});
    EXPECT_GE(memory.weights, before.weights);
    EXPECT_GE(memory.cache, before.cache);
    before = memory;
  }
}

TEST(SmallestShare, IsTheFirstThatHasEnoughInNineTenths) {
  EXPECT_EQ(share("A100-80GB", 9 * kGiB - 1024), "1 nvidia.com/mig-1g.10gb");
  EXPECT_EQ(share("A100-80GB", 9 * kGiB), "1 nvidia.com/mig-1g.10gb") << "all of it";
  EXPECT_EQ(share("A100-80GB", 9 * kGiB + 1), "1 nvidia.com/mig-1g.20gb");
  EXPECT_EQ(share("A100-80GB", 36 * kGiB - 1024), "1 nvidia.com/mig-3g.40gb");
  EXPECT_EQ(share("A100-80GB", 36 * kGiB + 1), "1 nvidia.com/gpu");
  EXPECT_EQ(share("A100-80GB", 72 * kGiB), "1 nvidia.com/gpu");
  EXPECT_EQ(share("A100-80GB", 72 * kGiB + 1), "2 nvidia.com/gpu");
  EXPECT_EQ(share("A100-80GB", 145 * kGiB), "4 nvidia.com/gpu");
  EXPECT_EQ(share("A100-80GB", 576 * kGiB), "8 nvidia.com/gpu") << "a whole machine";
  EXPECT_EQ(share("A100-80GB", 577 * kGiB), "none");
}

TEST(SmallestShare, OfEachProductHasRoomAndNoSmallerProfileHas) {
  for (const Product& product : all_products())
    for (std::int64_t bytes = kGiB; bytes <= product.memory_gb * kGiB; bytes += kGiB) {
      const Share share = smallest_share(product, bytes);
      ASSERT_GE(share.usable, bytes) << product.model;
      const Share less = smallest_share(product, bytes - kGiB);
      EXPECT_LE(less.usable, share.usable) << product.model << " " << bytes;
    }
}

}  // namespace
}  // namespace berth::advise
