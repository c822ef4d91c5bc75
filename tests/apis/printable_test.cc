// SPDX-License-Identifier: Apache-2.0
#include "apis/base/printable.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace berth {
namespace {

TEST(Printable, LeavesWhatIsMeantToBeRead) {
  for (const char* text :
       {"", "plain ä €, 2 × 1g.10gb → 3g.40gb", "C:\\dir \"quoted\"", "日本 🚀"}) {
    EXPECT_EQ(printable(text), text);
    EXPECT_EQ(printable_lines(text), text);
  }
}

TEST(Printable, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(printable("\x1b]0;title\a\x1b[31mred\r\nnext\tline\x7f"),
            "\\u001b]0;title\\u0007\\u001b[31mred\\u000d\\nnext\\u0009line\\u007f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\u009b");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\u0000");
  EXPECT_EQ(printable("\u202eevil\u202c \u2066x\u2069 \u200f\u061c \u2028\u2029"),
            "\\u202eevil\\u202c \\u2066x\\u2069 \\u200f\\u061c \\u2028\\u2029");
}

TEST(Printable, ReplacesWhatIsNoUtf8) {
  const std::string mark = "\xef\xbf\xbd";
  EXPECT_EQ(printable("\xff\xc3"), mark + mark);
  EXPECT_EQ(printable("\xc0\xaf"), mark + mark) << "an overlong slash";
  EXPECT_EQ(printable("\xe0\x80\x80"), mark + mark + mark) << "an overlong NUL";
  EXPECT_EQ(printable("\xed\xa0\x80"), mark + mark + mark) << "a surrogate";
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), mark + mark + mark + mark) << "beyond Unicode";
  EXPECT_EQ(printable("a\xe2\x82"), "a" + mark + mark) << "cut short";
}

TEST(Printable, LinesKeepTheirBreaksAndNothingElse) {
  EXPECT_EQ(printable_lines("a\nb\r\n\x1b[2J"), "a\nb\\u000d\n\\u001b[2J");
}

TEST(Printable, AJsonDocumentStaysTheSameData) {
  const nlohmann::json data = {{"k\u202e", "\x1b \x7f \u009b \u2028 \\ \" \n"}};
  EXPECT_EQ(nlohmann::json::parse(printable_lines(data.dump(2))), data);
}

TEST(Printable, QuotesAsJsonDoes) {
  EXPECT_EQ(printable_quoted("plain ä €"), "\"plain ä €\"");
  EXPECT_EQ(printable_quoted("a\"b\\c\nd\x1b[31m\x7f\u202e"),
            "\"a\\\"b\\\\c\\nd\\u001b[31m\\u007f\\u202e\"");
  EXPECT_EQ(printable_quoted("\xff\xc3"), "\"\xef\xbf\xbd\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace berth
