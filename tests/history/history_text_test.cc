// SPDX-License-Identifier: Apache-2.0
// The fields of a line of the history, and the text in a ConfigMap.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "apis/base/base64.h"
#include "controller/core/gzip.h"
#include "controller/history/history_chunk.h"
#include "controller/history/history_line.h"
#include "controller/history/history_query.h"

namespace berth {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

Time at(const char* text) { return parse_time(text).value(); }

HistoryLine cordon(const std::string& node = "n3") {
  return {at("2026-11-27T02:13:05Z"),
          "berth",
          "Node/" + node,
          "jsonpatch",
          "cordon for MIGLayout halves",
          "MIGLayout/halves generation 4"};
}

ConfigMap config_map(const HistoryChunk& chunk) {
  ConfigMap out;
  out.meta.name = config_map_of_chunk(chunk.seq);
  out.data = pack(chunk).value();
  return out;
}

TEST(HistoryLine, IsPrintedAsSimulateDoesWithTheObjectThatAskedForIt) {
  EXPECT_EQ(format(cordon()),
            "2026-11-27T02:13:05Z  n3                  berth: cordon for MIGLayout halves "
            "(MIGLayout/halves generation 4)");
  EXPECT_EQ(format({.at = at("2026-11-27T02:13:05Z"),
                    .object = "Job/team-a/train",
                    .what = kWaits,
                    .reason = "NoQuota: queue nlp has none"}),
            "2026-11-27T02:13:05Z  team-a/train        waits: NoQuota: queue nlp has none");
  EXPECT_EQ(format({.at = at("2026-11-27T02:13:05Z"),
                    .actor = "mig-manager",
                    .object = "Node/n3",
                    .what = "success"}),
            "2026-11-27T02:13:05Z  n3                  mig-manager: success");
}

TEST(HistoryLine, ComesBackAsItWasAndNoTextEndsAField) {
  HistoryLine line = cordon();
  const std::string text = encode_line(line);
  EXPECT_EQ(decode_line(text.substr(0, text.size() - 1)), line);
  line.reason = "a\tb\nc";
  const std::string cleaned = encode_line(line);
  EXPECT_EQ(std::count(cleaned.begin(), cleaned.end(), '\n'), 1);
  EXPECT_EQ(decode_line(cleaned.substr(0, cleaned.size() - 1))->reason, "a b c");
  for (const char* none : {"", "a", "2026-11-27T02:13:05Z\ta\tb\tc\td", "x\ta\tb\tc\td\te",
                           "2026-11-27T02:13:05Z\ta\tb\tc\td\te\tf"})
    EXPECT_EQ(decode_line(none), std::nullopt) << none;
}

TEST(HistoryChunk, IsReadBackAndByGunzip) {
  const HistoryChunk chunk{9, encode_line(cordon())};
  EXPECT_EQ(config_map_of_chunk(9), "berth-history-1");
  const HistoryChunk read = unpack(config_map(chunk));
  EXPECT_EQ(read.seq, 9);
  EXPECT_EQ(read.text, chunk.text);
  const std::string packed = decode_base64(config_map(chunk).data.at("lines.gz.base64")).value();
  EXPECT_EQ(gunzip(packed, 1000), chunk.text);
  EXPECT_EQ(gunzip(packed, chunk.text.size() - 1), std::nullopt);
}

TEST(HistoryChunk, ThatAPersonHasEditedCountsAsNone) {
  const ConfigMap good = config_map({9, encode_line(cordon())});
  const auto seq_with = [&](const std::string& key, const std::string& text) {
    ConfigMap edited = good;
    edited.data[key] = text;
    return unpack(edited).seq;
  };
  EXPECT_EQ(seq_with("note", "hello"), 9);
  EXPECT_EQ(seq_with("chunk", "10"), 0);  // that one has another name
  EXPECT_EQ(seq_with("chunk", "-7"), 0);
  EXPECT_EQ(seq_with("chunk", "99999999999999999993"), 0);
  EXPECT_EQ(seq_with("lines.gz.base64", "?"), 0);
  EXPECT_EQ(seq_with("lines.gz.base64", encode_base64("no gzip")), 0);
  EXPECT_EQ(seq_with("lines.gz.base64", encode_base64(gzip(std::string(64 << 20, 'x')))), 0);
  EXPECT_EQ(unpack(ConfigMap()).seq, 0);
}

TEST(HistoryChunk, ThatIsTooLargePackedIsRefused) {
  std::mt19937 random(1);
  HistoryChunk chunk{1, {}};
  while (chunk.text.size() < kMaxChunkPacked) chunk.text += std::to_string(random()) + "\n";
  chunk.text += chunk.text;
  EXPECT_EQ(pack({1, chunk.text + std::string()}).has_value(),
            encode_base64(gzip(chunk.text)).size() <= kMaxChunkPacked);
  for (int i = 0; i < 60'000; ++i) chunk.text += static_cast<char>(random());
  EXPECT_EQ(pack(chunk), std::nullopt);
}

TEST(HistoryChunk, LinesAreToldInTheOrderOfTheirChunks) {
  const std::vector<ConfigMap> there = {config_map({16, encode_line(cordon("n16"))}),
                                        config_map({9, encode_line(cordon("n9"))}), ConfigMap(),
                                        config_map({10, encode_line(cordon("n10")) + "broken\n"})};
  EXPECT_THAT(lines_of(there), ElementsAre(cordon("n9"), cordon("n10"), cordon("n16")));
}

TEST(HistoryChunk, LinesThatStandThereAreNotWrittenTwice) {
  const std::string a = encode_line(cordon("a")), b = encode_line(cordon("b"));
  EXPECT_EQ(lines_beside(a + b, a), b);
  EXPECT_EQ(lines_beside(a + b, ""), a + b);
}

HistoryQuery ask(std::vector<std::string> words, const char* namespace_ = "") {
  return parse_history_query(words, namespace_).value();
}

TEST(HistoryQuery, IsOfAnObjectAndWhatBelongsToIt) {
  const HistoryLine eviction = {.object = "Pod/team-a/train-x7k2p",
                                .what = "evict",
                                .reason = "drain node n3 for MIGLayout halves",
                                .cause = "MIGLayout/halves generation 4"};
  EXPECT_TRUE(matches(ask({}), eviction));
  EXPECT_TRUE(matches(ask({}, "team-a"), eviction));
  EXPECT_FALSE(matches(ask({}, "team-b"), eviction));
  EXPECT_TRUE(matches(ask({"node/n3"}), eviction));
  EXPECT_FALSE(matches(ask({"node/n"}), eviction));
  EXPECT_FALSE(matches(ask({"node/n33"}), eviction));
  EXPECT_TRUE(matches(ask({"job", "train"}, "team-a"), eviction));
  EXPECT_TRUE(matches(ask({"jobs/team-a/train"}), eviction));
  EXPECT_FALSE(matches(ask({"job/team-b/train"}), eviction));
  EXPECT_TRUE(matches(ask({"MIGLayout/halves"}, "team-a"), eviction));
  EXPECT_FALSE(matches(ask({"migl/half"}), eviction));
  EXPECT_TRUE(matches(ask({"no", "n3"}), cordon()));
  const HistoryLine replaced = {.object = "Job/team-a/train",
                                .what = "mergepatch",
                                .reason = "replace pod train-1, which can't leave node n3"};
  EXPECT_TRUE(matches(ask({"node/n3"}), replaced));
  EXPECT_FALSE(matches(ask({"node/n4"}), replaced));
  HistoryQuery later = ask({});
  later.since = at("2026-11-27T02:13:06Z");
  EXPECT_FALSE(matches(later, cordon()));
}

TEST(HistoryQuery, NamesWhatMayBeAsked) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"n3"}, {"secret/x"}, {"node/"}, {"node", "a", "b"}}) {
    const Result<HistoryQuery> query = parse_history_query(words, "");
    ASSERT_FALSE(query);
    EXPECT_THAT(describe(query.error()), ::testing::HasSubstr("write KIND/NAME"));
  }
}

}  // namespace
}  // namespace berth
