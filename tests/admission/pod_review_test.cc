// SPDX-License-Identifier: Apache-2.0
// The text of sizes, and which containers need shared memory.
#include "controller/admission/pod_review.h"

#include <gtest/gtest.h>

namespace berth::test {
namespace {

TEST(InBinary, ASizeIsToldInTheLargestUnitOfWhichItIsAWholeNumber) {
  const struct {
    const char* size;
    const char* told;
  } cases[] = {
      {"8Gi", "8Gi"},    {"1024Mi", "1Gi"}, {"1536Mi", "1536Mi"}, {"1Ki", "1Ki"},
      {"1023", "1023"},  {"1025", "1025"},  {"1G", "1000000000"}, {"2Ti", "2Ti"},
      {"1Pi", "1024Ti"}, {"0", "0"},        {"1500m", "1500m"},
  };
  for (const auto& c : cases) EXPECT_EQ(in_binary(*Quantity::parse(c.size)), c.told) << c.size;
}

ContainerSlice container_with(std::vector<GpuAmount> gpus) {
  ContainerSlice container;
  container.gpus = std::move(gpus);
  return container;
}

GpuAmount limit_of(std::string_view resource, std::int64_t count) {
  return {.resource = resource, .request = {}, .limit = Quantity::whole(count)};
}

TEST(WantsSharedMemory, WhoHasSeveralDevicesOfItsOwnWhateverTheyAre) {
  EXPECT_TRUE(wants_shared_memory(container_with({limit_of("nvidia.com/gpu", 2)})));
  EXPECT_FALSE(wants_shared_memory(container_with({limit_of("nvidia.com/gpu", 1)})));
  EXPECT_TRUE(wants_shared_memory(
      container_with({limit_of("nvidia.com/gpu", 1), limit_of("nvidia.com/mig-1g.10gb", 1)})));
  EXPECT_FALSE(wants_shared_memory(
      container_with({limit_of("nvidia.com/gpu", 1), limit_of("nvidia.com/gpu.shared", 4)})))
      << "shares of one GPU";
}

TEST(WantsSharedMemory, NoneThatHasItOrIsOverBeforeOthersStart) {
  ContainerSlice container = container_with({limit_of("nvidia.com/gpu", 8)});
  container.mounts_shared_memory = true;
  EXPECT_FALSE(wants_shared_memory(container));
  container.mounts_shared_memory = false;
  container.list = ContainerList::kInit;
  EXPECT_FALSE(wants_shared_memory(container));
}

}  // namespace
}  // namespace berth::test
