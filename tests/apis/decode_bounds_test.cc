// SPDX-License-Identifier: Apache-2.0
// Answers that no real API server sends: texts with two bytes per item, or only brackets, which
// would take many times their size in memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "apis/codec/decode.h"
#include "apis/codec/parse_json.h"
#include "apis/codec/protobuf_reader.h"

namespace berth {
namespace {

using ::testing::HasSubstr;

std::string repeated(const std::string& item, std::size_t count, const char* between = ",") {
  std::string out = item;
  for (std::size_t i = 1; i < count; ++i) out += between + item;
  return out;
}

template <class T>
Result<ListPage<T>> read_list(const std::string& items) {
  std::string body = R"({"metadata":{"resourceVersion":"5"},"items":[)" + items + "]}";
  return decode_list<T>(body);
}

TEST(DecodeBounds, APageHoldsSoManyItems) {
  EXPECT_EQ(read_list<Pod>(repeated("{}", 20'000))->items.size(), 20'000u);
  for (const Error& error : {read_list<Pod>(repeated("{}", 20'001)).error(),
                             read_list<Namespace>(repeated("{}", 20'001)).error()})
    EXPECT_EQ(describe(error), "items: holds more than 20000 items");
  // The same in protobuf: its second field, empty, repeated.
  std::string page("k8s\0\x12", 5);
  const std::string items = repeated(std::string("\x12\0", 2), 20'001, "");
  for (std::size_t length = items.size(); length > 0; length >>= 7)
    page += static_cast<char>((length & 0x7f) | (length > 0x7f ? 0x80 : 0));
  page += items;
  EXPECT_THAT(decode_list<Pod>(page).error().message, HasSubstr("more than 20000 times"));
}

TEST(DecodeBounds, AnObjectHoldsSoManyOfOneThing) {
  const auto pod = [](std::size_t tolerations, std::size_t labels) {
    std::string text = R"({"metadata":{"labels":{)";
    for (std::size_t i = 0; i < labels; ++i)
      text += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":\"\"";
    return text + R"(}},"spec":{"tolerations":[)" + repeated("{}", tolerations) + "]}}";
  };
  EXPECT_TRUE(read_list<Pod>(pod(20'000, 20'000)).has_value());
  EXPECT_THAT(describe(read_list<Pod>(pod(20'001, 1)).error()),
              HasSubstr("items[0].spec.tolerations: holds more than 20000 items"));
  EXPECT_THAT(describe(read_list<Pod>(pod(1, 20'001)).error()),
              HasSubstr("items[0].metadata.labels.20000: holds more than 20000 items"));
}

TEST(DecodeBounds, AnItemOfAListIsNamedWithItsField) {
  EXPECT_EQ(describe(read_list<Namespace>(R"({},{"metadata":{"name":1}})").error()),
            "items[1].metadata.name: must be a string, is the number 1");
  EXPECT_EQ(describe(read_list<Namespace>("{},1").error()),
            "items[1]: must be an object, is a number");
  EXPECT_EQ(read_list<Namespace>(R"({"metadata":{"name":"a"}} , {"metadata":{"name":"b"}})")
                ->items.at(1)
                .meta.name,
            "b");
}

TEST(DecodeBounds, ADocumentOfManyValuesOrOfBracketsAloneIsNone) {
  const std::string many = "[" + repeated("0", 100'000) + "]";
  EXPECT_TRUE(parse_foreign_json(many).is_discarded());
  EXPECT_FALSE(parse_foreign_json("[" + repeated("0", 90'000) + "]").is_discarded());
  const std::string deep(3'000'000, '[');
  EXPECT_TRUE(parse_foreign_json(deep).is_discarded());
  EXPECT_TRUE(parse_foreign_json("\xEF\xBB\xBF" + deep).is_discarded()) << "nor behind its mark";
  EXPECT_TRUE(parse_foreign_json("[\"" + std::string(1 << 20, 'x') + "\"]").is_array())
      << "text may be long";
  std::string event = R"({"type":"ADDED","object":{"x":)" + deep;
  EXPECT_FALSE(decode_watch_event<Namespace>(event).has_value());
  EXPECT_FALSE(read_list<Namespace>("{\"x\":" + deep).has_value());
  EXPECT_EQ(decode_status(500, "{\"kind\":" + deep).http_code, 500);
}

}  // namespace
}  // namespace berth
