// SPDX-License-Identifier: Apache-2.0
// `berth page` as a program: a page of a saved cluster, and what it says when it can't.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cmd/program.h"

namespace berth::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

TEST(PageOfASnapshot, HoldsItsNodesAndWhatWaits) {
  const Ran ran = run_berth({"page", "--snapshot", golden("../why/pods/cluster.json")});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.err, IsEmpty());
  EXPECT_THAT(ran.out, StartsWith("<!doctype html>\n"));
  EXPECT_THAT(ran.out, HasSubstr(R"({"name":"t1",)"));
  EXPECT_THAT(ran.out, HasSubstr(R"("subject":"Pod/vision/full-0")"));
}

TEST(PageOfASnapshot, OfNoSnapshotIsNoPage) {
  const Ran ran = run_berth({"page", "--snapshot", scratch_file("none.json", "{")});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.out, IsEmpty());
  EXPECT_THAT(ran.err, StartsWith("berth page: "));
}

}  // namespace
}  // namespace berth::test
