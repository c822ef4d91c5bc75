// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/parse_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace berth {
namespace {

using nlohmann::json;

json by_nlohmann(const std::string& text) { return json::parse(text, nullptr, false); }

TEST(ParseJsonTest, ReadsWhatNlohmannReads) {
  const std::string texts[] = {"{}",
                               "  [1, -1, 0, 2.5, 1e3, 4.9e-324] \n",
                               "18446744073709551615",
                               "-9223372036854775808",
                               "123456789012345678901234567890",
                               R"("a\u0000b\ud83d\ude00\n")",
                               R"({"b":{"x":[]},"a":[{},null,true,false,"t"]})",
                               R"({"a":1,"a":2})",
                               "\xEF\xBB\xBF{}",
                               std::string(2000, '[') + std::string(2000, ']')};
  for (const std::string& text : texts) EXPECT_EQ(parse_json(text), by_nlohmann(text)) << text;
}

TEST(ParseJsonTest, RefusesWhatNlohmannRefuses) {
  for (const char* text : {"", "{\"a\":1,}", "[1,2", "nul", "{} x", "01", "+1", "\"\x01\"",
                           "\"\xff\"", R"("\x")", R"("\ud800")", "1E400"}) {
    EXPECT_TRUE(parse_json(text).is_discarded()) << text;
    EXPECT_TRUE(by_nlohmann(text).is_discarded()) << text;
  }
}

}  // namespace
}  // namespace berth
