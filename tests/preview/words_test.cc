// SPDX-License-Identifier: Apache-2.0
// How names, resources and taints are written in sentences.
#include "controller/preview/words.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(PreviewWords, SixNamesAreAllToldAndOfMoreTheFirstAndTheLast) {
  std::vector<std::string> names{"n1", "n2", "n3", "n4", "n5", "n6"};
  EXPECT_EQ(name_some(names), "n1, n2, n3, n4, n5, n6");
  names.push_back("n7");
  EXPECT_EQ(name_some(names), "n1, n2, n3, … n7 (7 nodes)");
  EXPECT_EQ(name_some(names, "pod"), "n1, n2, n3, … n7 (7 pods)");
  EXPECT_EQ(name_some({}), "");
}

TEST(PreviewWords, OfWhatIsAskedNothingIsNotTold) {
  ResourceList resources;
  EXPECT_EQ(format(resources), "");
  resources.set("nvidia.com/gpu", Quantity());
  EXPECT_EQ(format(resources), "");
  resources.set("cpu", Quantity::whole(2));
  EXPECT_EQ(format(resources), "cpu: 2");
  resources.set("nvidia.com/gpu", Quantity::whole(4));
  EXPECT_EQ(format(resources), "cpu: 2, nvidia.com/gpu: 4");
}

TEST(PreviewWords, WholeGibibytesAreToldAsSuch) {
  const auto told = [](const char* resource, const char* amount) {
    ResourceList resources;
    resources.set(Text(resource), *Quantity::parse(amount));
    return format(resources);
  };
  EXPECT_EQ(told("memory", "1Gi"), "memory: 1Gi");
  EXPECT_EQ(told("memory", "8192Mi"), "memory: 8Gi");
  EXPECT_EQ(told("memory", "1536Mi"), "memory: " + Quantity::parse("1536Mi")->str());
  EXPECT_EQ(told("memory", "1000"), "memory: " + Quantity::parse("1000")->str());
  EXPECT_EQ(told("cpu", "1Gi"), "cpu: " + Quantity::parse("1Gi")->str()) << "it is no memory";
  EXPECT_EQ(told("cpu", "1500m"), "cpu: 1500m");
}

TEST(PreviewWords, ATaintHasAValueOrNone) {
  EXPECT_EQ(format(Taint{"gpu", "present", "NoSchedule"}), "gpu=present:NoSchedule");
  EXPECT_EQ(format(Taint{"gpu", "", "NoExecute"}), "gpu:NoExecute");
}

}  // namespace
}  // namespace berth
