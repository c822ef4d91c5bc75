// SPDX-License-Identifier: Apache-2.0
// The history lines of objects' changes.
#include "controller/history/tell.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apis/base/names.h"

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> texts(const HistoryLines& lines) {
  std::vector<std::string> out;
  for (const HistoryLine& line : lines)
    out.push_back(line.actor + "|" + line.object + "|" + line.what + "|" + line.reason + "|" +
                  line.cause);
  return out;
}
template <class T>
std::vector<std::string> told(const T& old, const T& now) {
  return texts(tell(&old, &now));
}

Node node() {
  Node n;
  n.meta.name = "n3";
  n.ready = true;
  n.boot_id = "a";
  n.allocatable = ResourceList{{"nvidia.com/gpu", Quantity::whole(4)}};
  return n;
}

TEST(TellNode, WhatItsAgentsAndOthersDo) {
  const Node old = node();
  Node now = old;
  EXPECT_THAT(told(old, now), IsEmpty());
  now.unschedulable = true;
  now.ready = false;
  now.boot_id = "b";
  now.allocatable = {};
  now.meta.labels = StringMap{{names::kMigConfigState, "failed"}};
  EXPECT_THAT(
      told(old, now),
      ElementsAre("|Node/n3|cordoned, not by berth||", "mig-manager|Node/n3|failed||",
                  "|Node/n3|offers no GPU||", "|Node/n3|is NotReady||", "|Node/n3|has rebooted||"));
  EXPECT_THAT(texts(tell(static_cast<const Node*>(nullptr), &old)),
              ElementsAre("|Node/n3|is new, offers 4 nvidia.com/gpu||"));
  EXPECT_THAT(texts(tell(&old, static_cast<const Node*>(nullptr))),
              ElementsAre("|Node/n3|is gone||"));
}

// berth's own cordon comes with its record: it is recorded where it is sent.
TEST(TellNode, NotWhatBerthItselfWrites) {
  const Node old = node();
  Node now = old;
  now.unschedulable = true;
  now.meta.annotations = StringMap{{names::kRolloutAnnotation, "{}"}};
  EXPECT_THAT(told(old, now), IsEmpty());
}

MIGLayout layout(std::vector<NodeDetail> details) {
  MIGLayout l;
  l.meta.name = "halves";
  l.meta.generation = 4;
  l.status.details = std::move(details);
  return l;
}

TEST(TellLayout, WhyANodeWaitsWheneverItsReasonChanges) {
  const MIGLayout old = layout({{"n1", "Waiting", "MaxUnavailable", "1 of 1 is out", {}},
                                {"n2", "Waiting", "Held", "held by Anna", {}}});
  const MIGLayout now = layout({{"n1", "Waiting", "MaxUnavailable", "1 of 1 are out", {}},
                                {"n2", "Waiting", "NodeNotReady", "NotReady", {}},
                                {"n3", "Applying", "", "", {}},
                                {"n4", "Waiting", "Held", "held by Ben", {}}});
  EXPECT_THAT(told(old, now),
              ElementsAre("|Node/n2|waits|NodeNotReady: NotReady|MIGLayout/halves generation 4",
                          "|Node/n4|waits|Held: held by Ben|MIGLayout/halves generation 4"));
}

TEST(TellLayout, ThatItIsChangedStallsAndIsReady) {
  MIGLayout old = layout({}), now = layout({});
  now.meta.generation = 5;
  now.status.conditions = {{"Stalled", "True", "NodeFailed", "n2: failed", 5, {}},
                           {"Ready", "False", "NodeFailed", "n2: failed", 5, {}}};
  EXPECT_THAT(told(old, now),
              ElementsAre("|MIGLayout/halves|is changed to generation 5||",
                          "|MIGLayout/halves|is Stalled|NodeFailed: n2: failed|generation 5"));
  EXPECT_THAT(told(now, now), IsEmpty());
  old = now;
  now.status.conditions = {{"Ready", "True", "AllNodesUpdated", "8 of 8", 5, {}}};
  EXPECT_THAT(told(old, now),
              ElementsAre("|MIGLayout/halves|is Ready|AllNodesUpdated: 8 of 8|generation 5"));
  EXPECT_THAT(told(now, layout({})),
              ::testing::Contains("|MIGLayout/halves|is not Ready any more||"));
}

TEST(TellWorkload, WhyItWaitsOncePerReason) {
  const auto job = [](const char* why) {
    Job j;
    j.meta.name = "train";
    j.meta.namespace_ = "team-a";
    j.meta.labels = StringMap{{names::kQueueLabel, "nlp"}};
    if (*why != '\0') j.meta.annotations = StringMap{{names::kPendingReasonAnnotation, why}};
    return j;
  };
  EXPECT_THAT(told(job(""), job("NoQuota: needs 4")),
              ElementsAre("|Job/team-a/train|waits|NoQuota: needs 4|GPUQueue/nlp"));
  EXPECT_THAT(told(job("NoQuota: needs 4"), job("NoQuota: needs 3")), IsEmpty());
  EXPECT_THAT(told(job("NoQuota: needs 4"), job("NoRoom: needs 4")).size(), 1u);
  EXPECT_THAT(told(job("NoQuota: needs 4"), job("")), IsEmpty());
}

}  // namespace
}  // namespace berth
