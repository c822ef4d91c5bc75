// SPDX-License-Identifier: Apache-2.0
// The driver requirements of containers, compared with nodes' labels.
#include "controller/fleet/cuda.h"

#include <gtest/gtest.h>

#include "tests/support/builders.h"

namespace berth::test {
namespace {

NodeCuda has(const std::string& cuda, const std::string& driver) {
  return {parse_version(cuda), parse_version(driver)};
}

TEST(Cuda, IsReadFromLabelsOfTodayAndOfBefore) {
  EXPECT_EQ(cuda_of(node("n1")
                        .label("nvidia.com/cuda.runtime-version.full", "12.4")
                        .label("nvidia.com/cuda.driver-version.full", "550.54.15"))
                .cuda,
            (DriverVersion{12, 4}));
  const Node parts = node("n1")
                         .label("nvidia.com/cuda.runtime-version.major", "12")
                         .label("nvidia.com/cuda.runtime-version.minor", "2");
  EXPECT_EQ(told(cuda_of(parts)), "CUDA 12.2");
  const Node before = node("n1")
                          .label("nvidia.com/cuda.runtime.major", "11")
                          .label("nvidia.com/cuda.runtime.minor", "4")
                          .label("nvidia.com/cuda.driver.major", "470")
                          .label("nvidia.com/cuda.driver.minor", "57")
                          .label("nvidia.com/cuda.driver.rev", "02");
  EXPECT_EQ(told(cuda_of(before)), "CUDA 11.4, driver 470.57.2");
  EXPECT_EQ(told(cuda_of(node("n1"))), "");
  EXPECT_FALSE(cuda_of(node("n1").label("nvidia.com/cuda.runtime-version.full", "new")).cuda);
}

TEST(Cuda, ARequirementIsContradictedByLabelsAlone) {
  struct Case {
    const char* requirement;
    NodeCuda has;
    bool contradicted;
  };
  const char* nvidias =
      "cuda>=12.4 brand=tesla,driver>=470,driver<471 brand=unknown,driver>=535,driver<536";
  for (const Case& c : {
           Case{"cuda>=12.4", has("12.2", ""), true},
           Case{"cuda>=12.4", has("12.4", ""), false},
           Case{"cuda>=12.4", has("13.0", ""), false},
           Case{"cuda>=12", has("12.0", ""), false},
           Case{"cuda>=12.4", has("", ""), false},
           Case{"cuda>=12.4", has("", "470.1"), false},
           Case{nvidias, has("12.2", "545.1"), true},
           Case{nvidias, has("12.2", "535.104.5"), false},
           Case{nvidias, has("11.4", "470.57.02"), false},
           Case{nvidias, has("12.2", "471"), true},
           Case{"cuda<12", has("12.2", ""), true},
           Case{"driver!=535", has("", "535"), true},
           Case{"arch>=7.0", has("1.0", "1"), false},
           Case{"cuda>=twelve", has("1.0", "1"), false},
           Case{"cuda>=", has("1.0", "1"), false},
           Case{"", has("1.0", "1"), false},
           Case{"  ", has("1.0", "1"), false},
       })
    EXPECT_EQ(contradicts(c.requirement, c.has), c.contradicted)
        << c.requirement << " of " << told(c.has);
}

TEST(Cuda, OfMoreAlternativesThanAnyImageHasNobodyKnows) {
  const auto of = [](int alternatives) {
    std::string requirement;
    for (int i = 0; i < alternatives; ++i) requirement += "cuda>=12.4 ";
    return requirement;
  };
  EXPECT_TRUE(contradicts(of(63), has("12.2", "")));
  EXPECT_FALSE(contradicts(of(65), has("12.2", ""))) << "the last might hold";
}

TEST(Cuda, AnAnnotationIsAVersion) {
  EXPECT_EQ(cuda_at_least("12.4"), "cuda>=12.4");
  for (const char* wrong : {"", "twelve", "12.", ">=12", "12.4 ", "1.2.3.4.5", "-1"})
    EXPECT_FALSE(cuda_at_least(wrong)) << wrong;
}

}  // namespace
}  // namespace berth::test
