// SPDX-License-Identifier: Apache-2.0
#include "controller/core/finalizer.h"

#include <gtest/gtest.h>

#include "apis/base/names.h"

namespace berth {
namespace {

const ObjectRef kLayout{"MIGLayout", "", "a", "u1"};

ObjectMeta with(std::vector<Text> finalizers) {
  ObjectMeta meta;
  meta.uid = "u1";
  meta.resource_version = "7";
  meta.finalizers = std::move(finalizers);
  return meta;
}

TEST(Finalizer, IsPutAndTakenUnderTheVersionThatWasReadAndOthersStay) {
  const Text own(names::kFinalizer);
  EXPECT_FALSE(has_finalizer(with({"theirs"})));
  EXPECT_TRUE(has_finalizer(with({"theirs", own})));
  struct Case {
    const char* sentence;
    std::vector<Text> before;
    bool ours;
    std::string after;
  };
  const std::string quoted = "\"" + own.str() + "\"";
  for (const Case& c : {
           Case{"put", {}, true, quoted},
           Case{"put behind another's", {"theirs"}, true, "\"theirs\"," + quoted},
           Case{"there already", {own}, true, quoted},
           Case{"taken", {own}, false, ""},
           Case{"taken from before another's", {own, "theirs"}, false, "\"theirs\""},
       }) {
    const Write write = write_finalizer(kLayout, with(c.before), c.ours, "berth-mig", "why");
    EXPECT_EQ(write.body,
              R"({"metadata":{"uid":"u1","resourceVersion":"7","finalizers":[)" + c.after + "]}}")
        << c.sentence;
    EXPECT_EQ(write.verb, Verb::kMergePatch);
    EXPECT_EQ(write.object, kLayout);
    EXPECT_EQ(write.field_manager, "berth-mig");
    EXPECT_EQ(write.reason, "why");
  }
}

}  // namespace
}  // namespace berth
