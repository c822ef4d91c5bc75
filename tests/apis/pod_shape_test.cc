// SPDX-License-Identifier: Apache-2.0
#include "apis/kinds/pod_shape.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "apis/codec/decode.h"
#include "apis/kinds/core.h"

namespace berth::test {
namespace {

PodShape::Fields trainer() {
  PodShape::Fields fields;
  fields.requests = {{"cpu", Quantity::whole(4)}, {"nvidia.com/gpu", Quantity::whole(1)}};
  fields.node_selector = {{"tier", "gold"}};
  fields.tolerations = {{"nvidia.com/gpu", "Exists", "", ""}};
  fields.required_node_affinity = {{{{"zone", SelectorOperator::kIn, {"a"}}}, {}}};
  fields.scheduling_gates = {"gpu.berth.dev/queue"};
  fields.scheduler_name = "default-scheduler";
  return fields;
}

TEST(PodShapes, EqualOnesAreOneInMemoryAndGoWithTheLastOfThem) {
  const std::size_t before = PodShape::pool_size();
  {
    const PodShape a(trainer());
    PodShape b(trainer());
    EXPECT_EQ(a, b);
    EXPECT_EQ(&*a, &*b);
    EXPECT_EQ(a.hash(), b.hash());
    EXPECT_EQ(PodShape::pool_size(), before + 1);
    const PodShape copy = b;
    b.edit()->priority = 7;
    EXPECT_EQ(copy, a) << "a shape never changes: the pod has another one";
    EXPECT_EQ(b->priority, 7);
    EXPECT_EQ(PodShape::pool_size(), before + 2);
    b.edit()->priority = 0;
    EXPECT_EQ(b, a);
    b = b;
    EXPECT_EQ(b, a);
  }
  EXPECT_EQ(PodShape::pool_size(), before);
}

TEST(PodShapes, EachFieldMakesAnother) {
  const std::vector<std::function<void(PodShape::Fields&)>> changes = {
      [](auto& f) { f.requests.set("cpu", Quantity::whole(5)); },
      [](auto& f) { f.requests.set("cpu", *Quantity::parse("3500m")); },
      [](auto& f) { f.node_selector.set("tier", "silver"); },
      [](auto& f) { f.tolerations[0].op = "Equal"; },
      [](auto& f) { f.required_node_affinity[0].match_expressions[0].values = {"b"}; },
      [](auto& f) { f.required_node_affinity[0].match_fields = {{"metadata.name"}}; },
      [](auto& f) { f.scheduling_gates.emplace_back("another"); },
      [](auto& f) { f.scheduler_name = "volcano"; },
      [](auto& f) { f.priority = 1; },
      [](auto& f) { f.has_affinity = true; },
      [](auto& f) { f.has_node_affinity = true; },
      [](auto& f) { f.unmodelled = Unmodelled::kVolumes; },
  };
  std::vector<PodShape> shapes = {PodShape(trainer()), PodShape()};
  for (const auto& change : changes) {
    PodShape::Fields fields = trainer();
    change(fields);
    shapes.emplace_back(fields);
  }
  for (std::size_t i = 0; i < shapes.size(); ++i)
    for (std::size_t j = 0; j < shapes.size(); ++j)
      EXPECT_EQ(shapes[i] == shapes[j], i == j) << i << " and " << j;
}

TEST(PodShapes, APodIsSmall) {
  // At fifty thousand pods, each eight bytes are 400 KB.
  EXPECT_LE(sizeof(Pod), 296u);
}

TEST(PodShapes, OneThatAsksForNothingIsTheDefault) {
  const std::size_t before = PodShape::pool_size();
  EXPECT_EQ(PodShape(PodShape::Fields()), PodShape());
  EXPECT_TRUE(PodShape()->requests.empty());
  EXPECT_FALSE(PodShape()->gated());
  EXPECT_EQ(PodShape::pool_size(), before);
}

}  // namespace
}  // namespace berth::test
