// SPDX-License-Identifier: Apache-2.0
// berth is stopped in the middle of a rollout, and in the middle of a preemption, and resumes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/scenario/play.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Those that the exploration lets go wrong in many ways.
Played play_file(const std::string& name) {
  std::ifstream file(source_dir() + "/tests/explore/scenarios/" + name);
  return play(std::string(std::istreambuf_iterator<char>(file), {}));
}

// The transcript from the stop until berth resumes, and from then on.
struct Halves {
  std::string stopped, resumed;
};
Halves halves_of(const Played& played) {
  const std::size_t stop = played.transcript.find(R"("operations":"Stopped")");
  const std::size_t resume = played.transcript.find(R"("operations":"Normal")");
  EXPECT_LT(stop, resume) << played.transcript;
  if (stop >= resume || resume == played.transcript.npos) return {};
  return {played.transcript.substr(stop, resume - stop), played.transcript.substr(resume)};
}

TEST(StoppedBerth, GivesADrainingNodeBackAndFinishesTheOther) {
  const Played played = play_file("stopped-midway.yaml");
  EXPECT_THAT(played.unsettled, IsEmpty()) << played.transcript;
  const Halves halves = halves_of(played);
  EXPECT_THAT(halves.stopped,
              AllOf(HasSubstr("uncordoned without a change: berth is stopped: incident 4711"),
                    HasSubstr("verified: uncordoned by berth, in service again"),
                    Not(HasSubstr("cordoned by berth for layout")), Not(HasSubstr("sent away")),
                    Not(HasSubstr("UnhealthyCordoned"))));
  EXPECT_THAT(halves.resumed,
              AllOf(HasSubstr("cordoned by berth for layout a100"), HasSubstr("sent away from m2"),
                    HasSubstr("UnhealthyCordoned")));
}

TEST(StoppedBerth, DisplacesNoJobAndAdmitsWhatFits) {
  const Played played = play_file("stopped-queue.yaml");
  EXPECT_THAT(played.unsettled, IsEmpty()) << played.transcript;
  const Halves halves = halves_of(played);
  EXPECT_THAT(halves.stopped,
              AllOf(Not(HasSubstr("sent away")), Not(HasSubstr("enters pool")),
                    HasSubstr("kubectl apply Job/small"), HasSubstr("runs on n2 (gpu ×1)")));
  EXPECT_THAT(halves.resumed,
              AllOf(HasSubstr("sent away from n1 by job-controller"), HasSubstr("enters pool")));
}

}  // namespace
}  // namespace berth::test
