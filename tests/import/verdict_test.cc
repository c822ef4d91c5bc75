// SPDX-License-Identifier: Apache-2.0
#include "controller/import/verdict.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::test {
namespace {

using testing::HasSubstr;

std::string object_of(const std::string& kind, const std::string& name, const std::string& spec) {
  return fmt::format(
      R"({{"apiVersion":"gpu.berth.dev/v1alpha1","kind":"{}","metadata":{{"name":"{}"}},"spec":{}}})",
      kind, name, spec);
}

std::string layout_of(const std::string& more) {
  return object_of("MIGLayout", "a", R"({"nodeSelector":{"matchLabels":{"a":"b"}},)" + more + "}");
}

TEST(ImportVerdict, AValidObjectHasNoFault) {
  EXPECT_EQ(first_fault(layout_of(R"("devices":[{"profiles":{"1g.10gb":7}}])")), "");
  EXPECT_EQ(first_fault(layout_of(R"("productSelector":["NVIDIA-A100-SXM4-80GB"],)"
                                  R"("devices":[{"profiles":{"3g.40gb":2}}])")),
            "");
  EXPECT_EQ(first_fault(object_of("GPUQueue", "a",
                                  R"({"quotas":[{"resource":"nvidia.com/gpu","pool":"*",)"
                                  R"("nominalQuota":4}]})")),
            "");
  EXPECT_EQ(first_fault(object_of("GPUClusterPolicy", "cluster", "{}")), "");
}

TEST(ImportVerdict, TheFirstFaultIsToldWithItsField) {
  EXPECT_EQ(first_fault(""), "is no object");
  EXPECT_EQ(first_fault("{}\n---\n{}"), "is no object");
  EXPECT_THAT(first_fault(object_of("GPUQueue", "a",
                                    R"({"quotas":[{"resource":"cpu",)"
                                    R"("pool":"*","nominalQuota":4}]})")),
              HasSubstr("spec.quotas[0].resource: "));
  EXPECT_THAT(first_fault(object_of("GPUClusterPolicy", "cluster", R"({"pools":7})")),
              HasSubstr("spec.pools: "));
  EXPECT_THAT(first_fault(layout_of(R"("devices":7)")), HasSubstr("spec.devices: "));
}

TEST(ImportVerdict, ALayoutHasToFitOnWhatItNames) {
  EXPECT_EQ(first_fault(layout_of(R"("devices":[{"profiles":{"1g.10gb":8}}])")),
            "no product that berth knows can be cut so");
  EXPECT_THAT(first_fault(layout_of(R"("productSelector":["NVIDIA-A100-SXM4-80GB"],)"
                                    R"("devices":[{"profiles":{"1g.5gb":7}}])")),
              HasSubstr("on NVIDIA-A100-SXM4-80GB: "));
  EXPECT_THAT(first_fault(layout_of(R"("productSelector":["Tesla-K80"],)"
                                    R"("devices":[{"profiles":{"1g.5gb":7}}])")),
              HasSubstr("Tesla-K80"));
}

}  // namespace
}  // namespace berth::test
