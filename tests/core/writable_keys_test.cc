// SPDX-License-Identifier: Apache-2.0
#include "controller/core/writable_keys.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(WritableKeys, AreReadAsTheyAreWritten) {
  struct Case {
    const char* text;
    KeyList list;
    const char* shown;
  };
  for (const Case& c : {
           Case{"all", {.all = true, .keys = {}}, "all"},
           Case{"none", {.all = false, .keys = {}}, "none"},
           Case{"", {.all = false, .keys = {}}, "none"},
           Case{"a", {.all = false, .keys = {"a"}}, "a"},
           Case{"a,example.com/b,",
                {.all = false, .keys = {"a", "example.com/b"}},
                "a,example.com/b"},
       }) {
    EXPECT_EQ(read_key_list(c.text), c.list) << c.text;
    EXPECT_EQ(c.list.str(), c.shown);
  }
}

TEST(WritableKeys, BerthsOwnPrefixIsInEveryList) {
  const KeyList some = read_key_list("a,example.com/b");
  EXPECT_TRUE(some.contains("a"));
  EXPECT_TRUE(some.contains("example.com/b"));
  EXPECT_FALSE(some.contains("example.com/c"));
  EXPECT_FALSE(some.contains(""));
  for (const char* text : {"all", "none", "a"})
    EXPECT_TRUE(read_key_list(text).contains("gpu.berth.dev/pool")) << text;
  EXPECT_FALSE(some.contains("gpu.berth.device/pool"));
  EXPECT_FALSE(some.contains("gpu.berth.dev"));
  EXPECT_TRUE(read_key_list("all").contains("whatever"));
}

}  // namespace
}  // namespace berth
