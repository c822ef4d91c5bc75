// SPDX-License-Identifier: Apache-2.0
// etcd is restored from a backup under a running berth: berth restarts from the restored objects.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "tests/scenario/play.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// The transcript from the restore on.
std::string after_restore(const std::string& name) {
  std::ifstream file(source_dir() + "/tests/explore/scenarios/" + name);
  const Played played = play(std::string(std::istreambuf_iterator<char>(file), {}));
  EXPECT_THAT(played.unsettled, IsEmpty()) << played.transcript;
  const std::size_t at = played.transcript.find("is restored");
  EXPECT_NE(at, played.transcript.npos) << played.transcript;
  return played.transcript.substr(std::min(at, played.transcript.size()));
}

TEST(EtcdRestored, AJobThatComesLaterGetsTheGpusOfOneThatTheBackupLacks) {
  const std::string rest = after_restore("restored-queue.yaml");
  EXPECT_THAT(rest, ContainsRegex("vision/c-.* runs on")) << rest;
  EXPECT_THAT(rest, Not(ContainsRegex("vision/a-.* (gone|sent away)"))) << "it runs on: " << rest;
}

TEST(EtcdRestored, ALayoutThatIsAppliedAgainIsRolledOut) {
  EXPECT_THAT(after_restore("restored-layout.yaml"), HasSubstr("verified"));
}

}  // namespace
}  // namespace berth::test
