// SPDX-License-Identifier: Apache-2.0
// Which edits of a pod `berth why` suggests, and which it omits because of better ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "controller/explain/explain_pod.h"
#include "tests/support/builders.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class Remedies : public ::testing::Test {
 protected:
  void add(const Node& node) { cluster_.upsert(node, now_); }
  void fill(const std::string& node, int gpus) {
    cluster_.upsert<Pod>(pod("held-" + node).gpu(gpus).on(node), now_);
  }
  // The suggestions for a pod with so many GPUs, on nodes of the tier if one is given.
  std::vector<std::string> offered(int gpus, const std::string& tier = "") {
    Pod waiting = pod("train").gpu(gpus).phase(PodPhase::kPending);
    if (!tier.empty()) waiting.shape.edit()->node_selector.set("tier", tier);
    cluster_.upsert(waiting, now_);
    std::vector<std::string> messages;
    for (const Explanation::Remedy& remedy :
         explain_pod({cluster_, answers_, settings_, now_}, waiting, no_clues()).remedies)
      messages.push_back(remedy.message);
    return messages;
  }
  static std::vector<std::string> dropping(const std::vector<std::string>& messages) {
    std::vector<std::string> found;
    for (const std::string& message : messages)
      if (message.find("drop nodeSelector") != message.npos) found.push_back(message);
    return found;
  }
  static NodeBuilder n(int number, int gpus = 4) {
    return node("n" + std::to_string(number)).a100_80(gpus);
  }

  Time now_ = *parse_time("2026-11-21T12:10:00Z");
  ClusterState cluster_;
  Answers answers_;
  Settings settings_;
};

TEST_F(Remedies, NoneIsOfANodeThatTakesNoPods) {
  add(n(1).label("tier", "lab"));
  EXPECT_THAT(offered(8, "prod"), Contains(HasSubstr("drop nodeSelector tier=prod")));
  add(n(1).label("tier", "lab").cordoned());
  EXPECT_THAT(dropping(offered(8, "prod")), IsEmpty());
  add(n(1).label("tier", "lab").not_ready());
  EXPECT_THAT(dropping(offered(8, "prod")), IsEmpty());
}

TEST_F(Remedies, WhereNoEditSufficesEachThatBringsItNearerIsTold) {
  add(n(1).label("tier", "lab"));
  add(n(2).label("tier", "night"));
  fill("n1", 4), fill("n2", 4);
  EXPECT_THAT(dropping(offered(4, "production")),
              ElementsAre(AllOf(HasSubstr("tier=lab"), HasSubstr("that alone is not enough")),
                          AllOf(HasSubstr("tier=night"), HasSubstr("that alone is not enough"))));
}

TEST_F(Remedies, WhereOneSufficesNoneThatDoesNotIsTold) {
  add(n(1).label("tier", "lab"));
  add(n(2).label("tier", "night"));
  fill("n2", 4);
  EXPECT_THAT(dropping(offered(4, "production")), ElementsAre(HasSubstr("n1 would take it")));
}

TEST_F(Remedies, OfOneKindAreFourAtMost) {
  for (const char* tier : {"aa", "bbbb", "cccccc", "dddddddd", "eeeeeeeeee", "ffffffffffff"})
    add(node(std::string("n-") + tier).a100_80(4).label("tier", tier));
  EXPECT_THAT(dropping(offered(4, "0123456789012345")), SizeIs(4));
}

// As many GPUs as the pod would get without the taint.
TEST_F(Remedies, ASecondEditIsToldOnlyForMore) {
  add(n(1));
  add(n(2).taint("lab", "NoSchedule"));
  fill("n1", 2), fill("n2", 2);
  const auto tolerate = Contains(HasSubstr("tolerate the taint"));
  EXPECT_THAT(offered(4), AllOf(Contains(HasSubstr("ask for less")), Not(tolerate)));
  fill("n2", 1);
  EXPECT_THAT(offered(4), tolerate) << "three of four rather than two";
}

TEST_F(Remedies, TwoEditsAreNotToldBesideOneThatSuffices) {
  add(n(1).taint("lab", "NoSchedule").label("tier", "prod"));
  add(n(2).label("tier", "prod"));
  add(n(3).taint("lab", "NoSchedule").label("tier", "night"));
  fill("n2", 2);
  const std::vector<std::string> told = offered(4, "prod");
  EXPECT_THAT(told, Contains(HasSubstr("tolerate the taint")));
  EXPECT_THAT(told, Contains(HasSubstr("ask for less: n2 would take it")));
  EXPECT_THAT(told, Each(Not(HasSubstr("tier"))));
}

}  // namespace
}  // namespace berth::test
