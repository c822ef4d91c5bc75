// SPDX-License-Identifier: Apache-2.0
// What a journal tells those who have an earlier state, and what a story is made of: taken in
// order, changes lead from each state to the last.
#include "controller/page/page_journal.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "controller/page/page_story.h"

namespace berth {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

PageState state_of(std::map<std::string, std::string> nodes, std::string taken_at = "\"now\"") {
  PageState state;
  state.things["nodes"] = std::move(nodes);
  state.things["queues"] = {};
  state.values["takenAt"] = std::move(taken_at);
  return state;
}

// As the page does it.
void lead_on(json& document, const json& change) {
  const json none = json::object();
  const json set = change.value("set", none), gone = change.value("gone", none),
             values = change.value("values", none);
  for (const auto& [kind, things] : set.items())
    for (const auto& [name, thing] : things.items()) document[kind][name] = thing;
  for (const auto& [kind, names] : gone.items())
    for (const json& name : names) document[kind].erase(name.get<std::string>());
  for (const auto& [name, value] : values.items()) document[name] = value;
}

TEST(PageChanges, AreOnlyWhatIsOther) {
  const PageState before = state_of({{"n1", "1"}, {"n2", "2"}, {"n3", "3"}});
  const PageState after = state_of({{"n1", "1"}, {"n2", "5"}, {"n4", "4"}}, "\"later\"");
  EXPECT_EQ(json::parse(print_changes(before, after)), json::parse(R"({
      "set": {"nodes": {"n2": 5, "n4": 4}}, "gone": {"nodes": ["n3"]},
      "values": {"takenAt": "later"}})"));
  EXPECT_EQ(print_changes(after, after), "{}");
}

TEST(PageChanges, OfAKindThatIsNewOrGoneAreAllOfItsThings) {
  const PageState some = state_of({{"n1", "1"}, {"n2", "2"}});
  EXPECT_EQ(json::parse(print_changes({}, some)), json::parse(R"({
      "set": {"nodes": {"n1": 1, "n2": 2}}, "values": {"takenAt": "now"}})"));
  PageState values;
  values.values = {{"costs", "1"}, {"takenAt", "\"now\""}};
  EXPECT_EQ(json::parse(print_changes(values, some)),
            json::parse(R"({"set": {"nodes": {"n1": 1, "n2": 2}}})"));
  EXPECT_EQ(json::parse(print_changes(some, values)),
            json::parse(R"({"gone": {"nodes": ["n1", "n2"]}, "values": {"costs": 1}})"));
  EXPECT_EQ(json::parse(print_changes(some, {})),
            json::parse(R"({"gone": {"nodes": ["n1", "n2"]}})"));
}

TEST(PageChanges, AStateIsPrintedWithItsVersionItsIdAndWhatIsSaidBesides) {
  EXPECT_EQ(json::parse(print_json(state_of({{"n1", "1"}}), "a-1", ",\"story\":2")),
            json::parse(R"({
      "apiVersion": "page.gpu.berth.dev/v1", "id": "a-1", "takenAt": "now", "nodes": {"n1": 1},
      "queues": {}, "story": 2})"));
  EXPECT_FALSE(json::parse(print_json(PageState())).contains("id"));
}

TEST(PageJournal, TheFirstStateIsNewsAndNoChange) {
  PageJournal journal("a");
  EXPECT_TRUE(journal.take(PageState()));
  EXPECT_EQ(journal.id(), "a-1");
  EXPECT_EQ(journal.count(), 0U);
  EXPECT_TRUE(journal.take(state_of({{"n1", "1"}})));
  EXPECT_EQ(journal.count(), 1U);
  EXPECT_EQ(journal.change(0).id, "a-2");
}

TEST(PageJournal, KeepsSoManyChanges) {
  PageJournal journal("a");
  for (int i = 0; i < 300; ++i) journal.take(state_of({{"n1", std::to_string(i)}}));
  EXPECT_EQ(journal.count(), 256U);
  EXPECT_EQ(journal.first_after("a-44"), 0U);
  EXPECT_FALSE(journal.first_after("a-43").has_value());
}

TEST(PageJournal, LeadsWhoeverHasAnEarlierStateToTheLast) {
  PageJournal journal("a");
  std::vector<std::pair<std::string, json>> had;
  for (int i = 0; i < 6; ++i) {
    const std::string number = std::to_string(i);
    ASSERT_TRUE(journal.take(state_of({{"n" + std::to_string(i % 3), number}, {"n9", "0"}})));
    had.emplace_back(journal.id(), json::parse(print_json(journal.state())));
  }
  for (auto& [id, document] : had) {
    const auto first = journal.first_after(id);
    ASSERT_TRUE(first.has_value()) << id;
    for (std::size_t i = *first; i < journal.count(); ++i)
      lead_on(document, json::parse(journal.change(i).json));
    EXPECT_EQ(document, had.back().second) << id;
  }
  EXPECT_EQ(journal.first_after(journal.id()), journal.count()) << "nothing came after the last";
}

TEST(PageJournal, TheSameStateAgainIsNoNews) {
  PageJournal journal("a");
  EXPECT_TRUE(journal.take(state_of({{"n1", "1"}})));
  const std::string id = journal.id();
  EXPECT_FALSE(journal.take(state_of({{"n1", "1"}})));
  EXPECT_EQ(journal.id(), id);
}

TEST(PageJournal, KnowsNoStateOfAnotherNorOneOfLongAgo) {
  PageJournal journal("a", 100), other("b");
  journal.take(state_of({{"n1", "0"}}));
  const std::string first = journal.id();
  other.take(state_of({{"n1", "0"}}));
  EXPECT_TRUE(journal.first_after(first).has_value());
  for (int i = 1; i < 20; ++i) journal.take(state_of({{"n1", std::to_string(i)}}));
  EXPECT_LT(journal.count(), 19u) << "it keeps no more than so many bytes";
  for (const std::string& id : {first, other.id(), std::string(), std::string("a-"),
                                std::string("a-99"), std::string("</script>")})
    EXPECT_FALSE(journal.first_after(id).has_value()) << id;
}

TEST(PageStory, HoldsFrameByFrameWhatWasToldAndWhatItChanged) {
  PageStory story("A \"story\"", state_of({{"n1", "1"}}));
  EXPECT_FALSE(story.wants_frame(milliseconds(5))) << "nothing was told yet";
  story.tell(milliseconds(5), "n1", "cordoned");
  story.tell(milliseconds(5), "a/</script>", "evicted");
  EXPECT_FALSE(story.wants_frame(milliseconds(5))) << "what happens at once is one frame";
  ASSERT_TRUE(story.wants_frame(milliseconds(9)));
  story.end_frame(state_of({{"n1", "2"}}));
  story.tell(milliseconds(9), "n1", "is back");
  story.end_frame(state_of({{"n1", "2"}, {"n2", "1"}}));
  const json document = json::parse(story.print());
  EXPECT_EQ(document["nodes"], json::parse(R"({"n1": 1})"));
  EXPECT_EQ(document["story"], json::parse(R"({"title": "A \"story\"", "frames": [
      {"at": 5, "lines": [["n1", "cordoned"], ["a/</script>", "evicted"]],
       "change": {"set": {"nodes": {"n1": 2}}}},
      {"at": 9, "lines": [["n1", "is back"]], "change": {"set": {"nodes": {"n2": 1}}}}]})"));
}

TEST(PageStory, AFrameLastsASecondAfterThreeHundredAndTwoAfterSixHundred) {
  PageStory story("long", state_of({}));
  const auto end = [&](int frames) {
    for (int i = 0; i < frames; ++i) {
      story.tell(milliseconds(1000), "n1", "x");
      story.end_frame(state_of({}));
    }
    story.tell(milliseconds(1000), "n1", "x");
  };
  end(299);
  EXPECT_TRUE(story.wants_frame(milliseconds(1001)));
  story.end_frame(state_of({}));
  end(0);
  EXPECT_FALSE(story.wants_frame(milliseconds(1999)));
  EXPECT_TRUE(story.wants_frame(milliseconds(2000)));
  story.end_frame(state_of({}));
  end(299);
  EXPECT_FALSE(story.wants_frame(milliseconds(2999)));
  EXPECT_TRUE(story.wants_frame(milliseconds(3000)));
}

TEST(PageStory, ALongOneHasLongerFrames) {
  PageStory story("long", state_of({}));
  int frames = 0;
  for (int i = 1; i <= 20'000; ++i) {
    if (story.wants_frame(milliseconds(100 * i))) story.end_frame(state_of({})), ++frames;
    story.tell(milliseconds(100 * i), "n1", "x");
  }
  EXPECT_GT(frames, 300);
  EXPECT_LT(frames, 1'500);
}

}  // namespace
}  // namespace berth
