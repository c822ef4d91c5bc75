// SPDX-License-Identifier: Apache-2.0
// How a pool changes one node: what it adds, what it leaves unchanged, and what it removes.
#include "controller/policy/pool_change.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/core/json_patch.h"
#include "controller/policy/pool_patch.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using ::testing::HasSubstr;

constexpr char kTier[] = "gpu.example.com/tier";
const PoolItem kTierLabel{kTier, {}}, kPool{names::kPoolLabel, {}},
    kTaint{"nvidia.com/gpu", "NoSchedule"};

// Pool "training": tier=gold, and a taint.
PoolIntent training(const char* tier = "gold") {
  return {.pool = "training",
          .items = {{kPool, "training"}, {kTierLabel, tier}, {kTaint, "present"}},
          .held_back = {}};
}

// As text: "label a/b=x, -taint c:NoSchedule; put back …; contested …; foreign …".
std::string told(const PoolChange& change) {
  std::string text;
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
  for (const PoolEdit& edit : change.edits)
    add(edit.to ? edit.item.str() + "=" + edit.to->str() : "-" + edit.item.str());
  for (const PoolItem& item : change.corrected) text += "; put back " + item.str();
  for (const PoolItem& item : change.contested) text += "; contested " + item.str();
  for (const PoolItem& item : change.foreign) text += "; foreign " + item.str();
  for (const PoolItem& item : change.forbidden) text += "; forbidden " + item.str();
  if (change.record_differs) text += change.record ? "; noted" : "; record gone";
  return text.empty() ? "nothing" : text;
}

std::string shown_text(const std::optional<Text>& value) { return value ? value->str() : "-"; }

// The node after the write.
Node after(Node node, const PoolChange& change) {
  for (const PoolEdit& edit : change.edits) {
    if (edit.item.is_label()) {
      node.meta.labels.erase(edit.item.key.view());
      if (edit.to) node.meta.labels.set(edit.item.key, *edit.to);
      continue;
    }
    std::erase_if(node.taints, [&](const Taint& taint) {
      return taint.key == edit.item.key && taint.effect == edit.item.effect;
    });
    if (edit.to) node.taints.push_back({edit.item.key, *edit.to, edit.item.effect});
  }
  node.meta.annotations.erase(names::kPoolKeysAnnotation);
  if (change.record) node.meta.annotations.set(names::kPoolKeysAnnotation, Text(*change.record));
  return node;
}

Node settled(Node node, const PoolIntent* intent) {
  return after(node, compute_pool_change(node, intent));
}

struct Case {
  const char* says;
  std::function<void(Node&)> then;  // a change of a node in pool training
  std::optional<PoolIntent> wants;
  const char* expected;
};

void set_label(Node& node, const char* key, const char* value) { node.meta.labels.set(key, value); }

const std::vector<Case> kCases = {
    {"nothing happens to a node that shows what its pool asks for", [](Node&) {}, training(),
     "nothing"},
    {"a label edited by hand is put back, and counted",
     [](Node& n) { set_label(n, kTier, "silver"); }, training(),
     "label gpu.example.com/tier=gold; put back label gpu.example.com/tier; noted"},
    {"a taint taken away by hand is put back", [](Node& n) { n.taints.clear(); }, training(),
     "taint nvidia.com/gpu:NoSchedule=present; put back taint nvidia.com/gpu:NoSchedule; noted"},
    {"a policy's edit is no correction", [](Node&) {}, training("platinum"),
     "label gpu.example.com/tier=platinum; noted"},
    {"an edit of both at once goes to the policy", [](Node& n) { set_label(n, kTier, "silver"); },
     training("platinum"), "label gpu.example.com/tier=platinum; noted"},
    {"leaving takes everything back", [](Node&) {}, std::nullopt,
     "-label gpu.berth.dev/pool, -label gpu.example.com/tier, -taint nvidia.com/gpu:NoSchedule; "
     "record gone"},
    {"leaving leaves what somebody has made theirs", [](Node& n) { set_label(n, kTier, "silver"); },
     std::nullopt, "-label gpu.berth.dev/pool, -taint nvidia.com/gpu:NoSchedule; record gone"},
    {"berth's own label is never anybody else's",
     [](Node& n) { set_label(n, names::kPoolLabel, "mine"); }, std::nullopt,
     "-label gpu.berth.dev/pool, -label gpu.example.com/tier, -taint nvidia.com/gpu:NoSchedule; "
     "record gone"},
    {"a record that was taken away is written anew",
     [](Node& n) { n.meta.annotations.erase(names::kPoolKeysAnnotation); }, training(), "; noted"},
    {"without a record, leaving takes nothing",
     [](Node& n) { n.meta.annotations.erase(names::kPoolKeysAnnotation); }, std::nullopt,
     "nothing"},
    {"without a record, the pool's label still gets the right value",
     [](Node& n) {
       n.meta.annotations.erase(names::kPoolKeysAnnotation);
       set_label(n, names::kPoolLabel, "mine");
     },
     training(), "label gpu.berth.dev/pool=training; noted"},
    {"of a record that can't be read all that stands under the pool's keys is berth's",
     [](Node& n) {
       n.meta.annotations.set(names::kPoolKeysAnnotation, "[]");
       n.meta.labels.erase(names::kPoolLabel);
       set_label(n, kTier, "silver");
     },
     training(), "label gpu.berth.dev/pool=training, label gpu.example.com/tier=gold; noted"},
    {"a taint's other effect is another taint",
     [](Node& n) { n.taints.front().effect = "PreferNoSchedule"; }, training(),
     "taint nvidia.com/gpu:NoSchedule=present; put back taint nvidia.com/gpu:NoSchedule; noted"},
    {"a record that can't be read is written anew",
     [](Node& n) { n.meta.annotations.set(names::kPoolKeysAnnotation, "[]"); }, training(),
     "; noted"},
};

TEST(PoolChange, OfANodeThatIsInItsPool) {
  const PoolIntent before = training();
  for (const Case& c : kCases) {
    SCOPED_TRACE(c.says);
    Node node = settled(test::node("n1").a100_80(4), &before);
    ASSERT_EQ(told(compute_pool_change(node, &before)), "nothing");
    c.then(node);
    const PoolIntent* wants = c.wants ? &*c.wants : nullptr;
    const PoolChange change = compute_pool_change(node, wants);
    EXPECT_EQ(told(change), c.expected);
    EXPECT_EQ(told(compute_pool_change(after(node, change), wants)), "nothing")
        << "an applied change leaves nothing to do";
  }
}

TEST(PoolChange, WhatStoodThereBeforeIsSomebodyElses) {
  const PoolIntent wants = training();
  const Node before = test::node("n1").a100_80(4).label(kTier, "silver");
  PoolChange change = compute_pool_change(before, &wants);
  EXPECT_EQ(told(change),
            "label gpu.berth.dev/pool=training, taint nvidia.com/gpu:NoSchedule=present; foreign "
            "label gpu.example.com/tier; noted");
  const Node in_pool = after(before, change);
  EXPECT_EQ(told(compute_pool_change(in_pool, &wants)), "; foreign label gpu.example.com/tier")
      << "and stays theirs";
  EXPECT_EQ(settled(in_pool, nullptr), before) << "and stays when the pool goes";
}

// Another client has set the value that a pool wants.
TEST(PoolChange, WhatStoodThereAndIsRightStaysWhenThePoolGoes) {
  const PoolIntent wants = training();
  const Node before = test::node("n1").a100_80(4).label(kTier, "gold");
  const Node in_pool = settled(before, &wants);
  EXPECT_EQ(shown_text(shown(in_pool, kPool)), "training");
  EXPECT_EQ(settled(in_pool, nullptr), before);
}

TEST(PoolChange, WithoutARecordALabelWithAnotherValueIsNotBerths) {
  const PoolIntent wants = training();
  Node node = settled(test::node("n1").a100_80(4), &wants);
  node.meta.annotations.erase(names::kPoolKeysAnnotation);
  set_label(node, kTier, "silver");
  EXPECT_EQ(told(compute_pool_change(node, &wants)), "; foreign label gpu.example.com/tier; noted");
}

// A node of an autoscaler has the labels and taints of its node group's template.
TEST(PoolChange, WhatATemplateGaveTheNodeStaysWhenThePoolGoes) {
  const PoolIntent wants = training();
  Node before = test::node("n1").label(names::kPoolLabel, "training").label(kTier, "gold");
  before.taints.push_back({"nvidia.com/gpu", "present", "NoSchedule"});
  EXPECT_EQ(told(compute_pool_change(before, nullptr)), "nothing");
  EXPECT_EQ(told(compute_pool_change(before, &wants)), "; noted");
  const Node in_pool = settled(before, &wants);
  EXPECT_EQ(told(compute_pool_change(in_pool, &wants)), "nothing");
  EXPECT_EQ(settled(in_pool, nullptr), before);
}

TEST(PoolChange, AFightEndsAfterThreeCorrections) {
  const PoolIntent wants = training();
  Node node = settled(test::node("n1").a100_80(4), &wants);
  for (int round = 1; round <= kMaxCorrections; ++round) {
    set_label(node, kTier, "silver");
    node = settled(node, &wants);
    EXPECT_EQ(shown_text(shown(node, kTierLabel)), "gold") << round;
  }
  set_label(node, kTier, "silver");
  EXPECT_EQ(told(compute_pool_change(node, &wants)), "; contested label gpu.example.com/tier");
  const PoolIntent edited = training("platinum");
  EXPECT_THAT(told(compute_pool_change(node, &edited)), HasSubstr("tier=platinum"))
      << "an edit of the policy is a new wish";
  node = settled(node, &edited);
  set_label(node, kTier, "silver");
  EXPECT_THAT(told(compute_pool_change(node, &edited)), HasSubstr("put back"))
      << "for which it is tried as often";
  PoolIntent renamed = edited;
  renamed.pool = "other";
  renamed.items[kPool] = "other";
  EXPECT_THAT(told(compute_pool_change(settled(node, &renamed), &renamed)), "nothing");
}

// --- keys that an admission policy forbids to berth ---

const WritableKeys kNoLabels{.labels = {.all = false, .keys = {"example.com/other"}}, .taints = {}};

TEST(PoolChange, WhatBerthMayNotWriteIsLeftAndTheRestIsDone) {
  const PoolIntent wants = training();
  const Node before = test::node("n1").a100_80(4);
  const PoolChange change = compute_pool_change(before, &wants, kNoLabels);
  EXPECT_EQ(told(change),
            "label gpu.berth.dev/pool=training, taint nvidia.com/gpu:NoSchedule=present; forbidden "
            "label gpu.example.com/tier; noted");
  const Node in_pool = after(before, change);
  EXPECT_EQ(told(compute_pool_change(in_pool, &wants, kNoLabels)),
            "; forbidden label gpu.example.com/tier")
      << "nothing is left to write";
  EXPECT_EQ(told(compute_pool_change(in_pool, &wants)), "label gpu.example.com/tier=gold; noted")
      << "it is done as soon as it may be";
}

TEST(PoolChange, WhatBerthMayNotTakeBackStaysNoted) {
  const PoolIntent wants = training(), edited = training("platinum");
  const Node in_pool = settled(test::node("n1").a100_80(4), &wants);
  EXPECT_EQ(told(compute_pool_change(in_pool, &wants, kNoLabels)), "nothing");
  EXPECT_EQ(told(compute_pool_change(in_pool, &edited, kNoLabels)),
            "; forbidden label gpu.example.com/tier");

  const PoolChange leaving = compute_pool_change(in_pool, nullptr, kNoLabels);
  EXPECT_EQ(told(leaving),
            "-label gpu.berth.dev/pool, -taint nvidia.com/gpu:NoSchedule; forbidden label "
            "gpu.example.com/tier; noted");
  const Node left = after(in_pool, leaving);
  EXPECT_EQ(told(compute_pool_change(left, nullptr, kNoLabels)),
            "; forbidden label gpu.example.com/tier");
  EXPECT_EQ(told(compute_pool_change(left, nullptr)), "-label gpu.example.com/tier; record gone");
  Node by_hand = left;
  by_hand.meta.labels.erase(kTier);
  EXPECT_EQ(told(compute_pool_change(by_hand, nullptr, kNoLabels)), "; record gone");
  Node labelled = left;
  set_label(labelled, names::kPoolLabel, "mine");
  EXPECT_EQ(told(compute_pool_change(labelled, &wants)),
            "label gpu.berth.dev/pool=training, taint nvidia.com/gpu:NoSchedule=present; noted")
      << "berth's own label is never anybody else's, whatever is noted";
}

TEST(PoolChange, WhatSomebodyMadeTheirsIsNotedNoMoreThoughItMayNotBeWritten) {
  const PoolIntent wants = training();
  Node node = settled(test::node("n1").a100_80(4), &wants);
  set_label(node, kTier, "silver");
  const PoolChange change = compute_pool_change(node, &wants, kNoLabels);
  EXPECT_EQ(told(change), "; forbidden label gpu.example.com/tier; noted");
  EXPECT_THAT(*change.record, ::testing::Not(HasSubstr("gpu.example.com/tier")));
  node.meta.annotations.set(names::kPoolKeysAnnotation, "[]");
  EXPECT_EQ(told(compute_pool_change(node, &wants, kNoLabels)),
            "; forbidden label gpu.example.com/tier; noted");
}

TEST(PoolChange, LeavingAndEnteringAThousandTimesLeavesNothing) {
  const PoolIntent gold = training(), silver = training("silver");
  const Node before = test::node("n1").a100_80(4).label("team", "a").taint("theirs", "NoExecute");
  Node node = before;
  for (int i = 0; i < 1000; ++i) {
    node = settled(node, i % 2 == 0 ? &gold : &silver);
    ASSERT_EQ(shown_text(shown(node, kTierLabel)), i % 2 == 0 ? "gold" : "silver");
    node = settled(node, nullptr);
    ASSERT_EQ(node, before) << i;
  }
}

// --- the write ---

TEST(PoolPatch, TestsAllThatWasDecidedOn) {
  const PoolIntent wants = training();
  const Node node =
      test::node("n1").a100_80(4).annotation("gpu.berth.dev/hold", "x").taint("a", "NoSchedule");
  Plan plan;
  plan_pool_patch(node, compute_pool_change(node, &wants), "why", plan);
  ASSERT_EQ(plan.objects.size(), 1u);
  ASSERT_EQ(plan.objects[0].steps.size(), 1u);
  const auto& write = std::get<Write>(plan.objects[0].steps[0]);
  EXPECT_EQ(write.field_manager, names::kManagerPolicy);
  EXPECT_EQ(
      write.body,
      R"([{"op":"test","path":"/metadata/uid","value":"uid-n1"},)"
      R"({"op":"test","path":"/metadata/annotations/gpu.berth.dev~1pool-keys","value":null},)"
      R"({"op":"test","path":"/metadata/labels/gpu.berth.dev~1pool","value":null},)"
      R"({"op":"add","path":"/metadata/labels/gpu.berth.dev~1pool","value":"training"},)"
      R"({"op":"test","path":"/metadata/labels/gpu.example.com~1tier","value":null},)"
      R"({"op":"add","path":"/metadata/labels/gpu.example.com~1tier","value":"gold"},)"
      R"({"op":"add","path":"/spec/taints/-","value":{"key":"nvidia.com/gpu","value":"present",)"
      R"("effect":"NoSchedule"}},)"
      R"({"op":"add","path":"/metadata/annotations/gpu.berth.dev~1pool-keys","value":)"
      R"("{\"pool\":\"training\",\"labels\":{\"gpu.berth.dev/pool\":\"training\",)"
      R"(\"gpu.example.com/tier\":\"gold\"},\"taints\":[{\"key\":\"nvidia.com/gpu\",)"
      R"(\"value\":\"present\",\"effect\":\"NoSchedule\"}],\"corrections\":0}"}])");
}

TEST(PoolPatch, TaintsGoByPlaceFromTheLastToTheFirst) {
  const PoolIntent two{
      .pool = "p",
      .items = {{kPool, "p"}, {{"x", "NoSchedule"}, "1"}, {{"y", "PreferNoSchedule"}, ""}},
      .held_back = {}};
  Node node = test::node("n1").a100_80(4);
  node = settled(node, &two);
  node.taints.insert(node.taints.begin() + 1, {"theirs", "", "NoExecute"});
  Plan plan;
  plan_pool_patch(node, compute_pool_change(node, nullptr), "why", plan);
  const std::string& body = std::get<Write>(plan.objects[0].steps[0]).body;
  EXPECT_THAT(body, HasSubstr(R"({"op":"test","path":"/spec/taints/2/key","value":"y"},)"
                              R"({"op":"test","path":"/spec/taints/2/effect",)"
                              R"("value":"PreferNoSchedule"},)"
                              R"({"op":"test","path":"/spec/taints/2/value","value":null},)"
                              R"({"op":"remove","path":"/spec/taints/2"},)"
                              R"({"op":"test","path":"/spec/taints/0/key","value":"x"})"));
  EXPECT_THAT(body, ::testing::Not(HasSubstr("theirs")));
}

std::string body_of(const Node& node, const PoolIntent* wants) {
  Plan plan;
  plan_pool_patch(node, compute_pool_change(node, wants), "why", plan);
  return std::get<Write>(plan.objects.at(0).steps.back()).body;
}

TEST(PoolPatch, EachChangeTestsWhatStood) {
  const PoolIntent gold = training();
  PoolIntent other = training();
  other.items[kTaint] = "now";
  const Node node = settled(test::node("n1").a100_80(4).label("team", "a"), &gold);
  const std::string record = quote_json(*compute_pool_change(node, &gold).record);
  EXPECT_THAT(body_of(node, &other),
              HasSubstr(R"({"op":"test","path":"/spec/taints/0/value","value":"present"},)"
                        R"({"op":"replace","path":"/spec/taints/0","value":{"key":)"
                        R"("nvidia.com/gpu","value":"now","effect":"NoSchedule"}})"));
  const std::string leaving = body_of(node, nullptr);
  EXPECT_THAT(leaving, HasSubstr(R"({"op":"test","path":"/metadata/annotations/)"
                                 R"(gpu.berth.dev~1pool-keys","value":)" +
                                 record + "}"));
  EXPECT_THAT(leaving,
              HasSubstr(R"({"op":"test","path":"/metadata/labels/gpu.example.com~1tier","value":)"
                        R"("gold"},{"op":"remove","path":)"
                        R"("/metadata/labels/gpu.example.com~1tier"})"));
  EXPECT_THAT(
      leaving,
      HasSubstr(R"({"op":"remove","path":"/metadata/annotations/gpu.berth.dev~1pool-keys"})"));
}

TEST(PoolPatch, TheFirstTaintsOfANodeMakeItsList) {
  PoolIntent two = training();
  two.items[{"a", "NoSchedule"}] = "";
  const Node node = test::node("n1").a100_80(4).annotation("x", "y");
  EXPECT_THAT(body_of(node, &two),
              HasSubstr(R"({"op":"test","path":"/spec/taints","value":null},{"op":"add","path":)"
                        R"("/spec/taints","value":[{"key":"a","effect":"NoSchedule"},{"key":)"
                        R"("nvidia.com/gpu","value":"present","effect":"NoSchedule"}]})"));
}

TEST(PoolPatch, ATaintOfAnotherEffectIsSomebodyElses) {
  const PoolIntent gold = training();
  Node node = settled(test::node("n1").a100_80(4), &gold);
  node.taints.push_back({"nvidia.com/gpu", "", "NoExecute"});
  EXPECT_THAT(body_of(node, nullptr), ::testing::Not(HasSubstr("/spec/taints/1")));
}

// A JSON patch can't test a key of an absent map.
TEST(PoolPatch, ANodeWithoutAnnotationsGetsAnEmptyRecordFirst) {
  const PoolIntent wants = training();
  const Node node = test::node("n1").a100_80(4);
  Plan plan;
  plan_pool_patch(node, compute_pool_change(node, &wants), "why", plan);
  ASSERT_EQ(plan.objects[0].steps.size(), 2u);
  const auto& first = std::get<Write>(plan.objects[0].steps[0]);
  EXPECT_EQ(first.verb, Verb::kMergePatch);
  EXPECT_THAT(first.body, HasSubstr("\"resourceVersion\""));
  EXPECT_THAT(std::get<Write>(plan.objects[0].steps[1]).body,
              HasSubstr(R"("path":"/metadata/annotations/gpu.berth.dev~1pool-keys","value":"{)"));
  EXPECT_THAT(std::get<Write>(plan.objects[0].steps[1]).body,
              HasSubstr(R"({"op":"test","path":"/metadata/annotations/gpu.berth.dev~1pool-keys",)"
                        R"("value":)" +
                        quote_json(encode_pool_keys({})) + "}"));
}

TEST(PoolKeys, AreReadBack) {
  const PoolKeys keys{.pool = "p\"q",
                      .items = {{kTierLabel, "gold"}, {kTaint, ""}, {{"x", "NoExecute"}, "1"}},
                      .corrections = 2};
  EXPECT_EQ(decode_pool_keys(encode_pool_keys(keys)), keys);
}

TEST(PoolKeys, WhatIsNoRecordIsRefused) {
  for (const char* text : {"", "[]", "7", "{", R"({"pool":"p"})", R"({"labels":[],"taints":[]})",
                           R"({"labels":{"a":1},"taints":[]})", R"({"labels":{},"taints":[7]})",
                           R"({"labels":{},"taints":[{"key":"a"}]})",
                           R"({"labels":{},"taints":[{"effect":"NoSchedule"}]})",
                           R"({"labels":{},"taints":[{"key":1,"effect":"NoSchedule"}]})",
                           R"({"pool":"p","taints":[]})", R"({"pool":"p","labels":{}})",
                           R"({"labels":{},"taints":{}})"})
    EXPECT_FALSE(decode_pool_keys(text).has_value()) << text;
}

TEST(PoolKeys, WhatIsNotSaidIsNothing) {
  const PoolKeys keys = *decode_pool_keys(R"({"pool":7,"labels":{},"taints":[]})");
  EXPECT_EQ(keys.pool, "");
  EXPECT_EQ(keys.corrections, 0);
  EXPECT_EQ(decode_pool_keys(R"({"labels":{},"taints":[],"corrections":"3"})")->corrections, 0);
  EXPECT_EQ(decode_pool_keys(R"({"labels":{},"taints":[],"corrections":3})")->corrections, 3);
}

}  // namespace
}  // namespace berth::test
