// SPDX-License-Identifier: Apache-2.0
// The small values: quantities, times, durations, budgets, selectors, versions, interned text.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <random>

#include "apis/base/flat_map.h"
#include "apis/base/int_or_percent.h"
#include "apis/base/nearest_name.h"
#include "apis/kinds/core.h"
#include "apis/kinds/mig_layout.h"

namespace berth {
namespace {

using namespace std::chrono_literals;

struct QuantityCase {
  const char* text;
  const char* printed;  // nullptr: refused
};

TEST(Quantity, ReadsKubernetesGrammarExactly) {
  const QuantityCase cases[] = {
      {"0", "0"},
      {"4", "4"},
      {"+4", "4"},
      {"-4", "-4"},
      {"0.5", "500m"},
      {".5", "500m"},
      {"5.", "5"},
      {"500m", "500m"},
      {"1500m", "1500m"},
      {"2000m", "2"},
      {"1u", "1u"},
      {"1n", "1n"},
      {"1k", "1000"},
      {"1M", "1000000"},
      {"1G", "1000000000"},
      {"1T", "1000000000000"},
      {"1P", "1000000000000000"},
      {"1E", "1000000000000000000"},
      {"1Ki", "1024"},
      {"1Mi", "1048576"},
      {"1Gi", "1073741824"},
      {"1Ti", "1099511627776"},
      {"1Pi", "1125899906842624"},
      {"1Ei", "1152921504606846976"},
      {"1.5Gi", "1610612736"},
      {"-0.5Ki", "-512"},
      {"1e3", "1000"},
      {"1E3", "1000"},
      {"1E-3", "1m"},
      {"1.5e+3", "1500"},
      {"0e999999", "0"},
      {"0000000000000000000000000000000000004", "4"},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775807", "-9223372036854775807"},
      {"0.0000000001", "1n"},    // less than a nano: rounded up
      {"-0.0000000001", "-1n"},  // away from zero, as the server does
      {"1e-400", "1n"},
      {"1.0000000000000000000000000000000000000", "1"},
      {"9223372036854775808", nullptr},
      {"8Ei", nullptr},
      {"7.9999999999999999999999999999999999Ei", nullptr},  // rounds up to 8Ei
      {"7.5Ei", "8646911284551352320"},
      {"10E", nullptr},
      {"1e19", nullptr},
      {"1e999999999999999999", nullptr},
      {"99999999999999999999999999999999999999999999", nullptr},
      {"", nullptr},
      {"-", nullptr},
      {".", nullptr},
      {"m", nullptr},
      {"1 Gi", nullptr},
      {"1gi", nullptr},
      {"1Kb", nullptr},
      {"1e", nullptr},
      {"1e+", nullptr},
      {"1e3m", nullptr},
      {"1,5", nullptr},
      {"0x10", nullptr},
      {"NaN", nullptr},
      {"1\xC2\xB5", nullptr},
  };
  for (const QuantityCase& c : cases) {
    Result<Quantity> quantity = Quantity::parse(c.text);
    EXPECT_EQ(quantity.has_value(), c.printed != nullptr) << c.text;
    if (!quantity || c.printed == nullptr) continue;
    EXPECT_EQ(quantity->str(), c.printed) << c.text;
    EXPECT_EQ(*Quantity::parse(quantity->str()), *quantity) << "printed and read again: " << c.text;
  }
  EXPECT_FALSE(Quantity::parse(std::string(100'000, '9')).has_value());
}

TEST(Quantity, CountsOnlyWholeNumbersAsGpus) {
  EXPECT_EQ(Quantity::parse("8")->as_whole(), 8);
  EXPECT_EQ(Quantity::parse("2000m")->as_whole(), 2);
  EXPECT_EQ(Quantity::parse("500m")->as_whole(), std::nullopt);
  EXPECT_EQ(Quantity::parse("500m")->rounded_up(), 1);
  EXPECT_EQ(Quantity::parse("-500m")->rounded_up(), -1);
  EXPECT_EQ((*Quantity::parse("1Gi") + Quantity::whole(1) - *Quantity::parse("1Gi")).as_whole(), 1);
  Quantity sum;
  for (int i = 0; i < 1000; ++i) sum += Quantity::whole(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(sum.as_whole(), std::nullopt);
  EXPECT_EQ(sum.rounded_up(), std::numeric_limits<std::int64_t>::max());
}

TEST(Time, ReadsRfc3339AndPrintsWhatTheApiPrints) {
  struct {
    const char* text;
    const char* seconds;  // nullptr: refused
    const char* micros;
  } cases[] = {
      {"2026-11-21T14:22:49Z", "2026-11-21T14:22:49Z", "2026-11-21T14:22:49.000000Z"},
      {"2026-11-21T14:22:49.123456Z", "2026-11-21T14:22:49Z", "2026-11-21T14:22:49.123456Z"},
      {"2026-11-21T14:22:49.5Z", "2026-11-21T14:22:49Z", "2026-11-21T14:22:49.500000Z"},
      {"2026-11-21T14:22:49.123456789Z", "2026-11-21T14:22:49Z", "2026-11-21T14:22:49.123456Z"},
      {"2026-11-21T01:30:00+02:00", "2026-11-20T23:30:00Z", "2026-11-20T23:30:00.000000Z"},
      {"2026-11-21T23:30:00-05:30", "2026-11-22T05:00:00Z", "2026-11-22T05:00:00.000000Z"},
      {"1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59Z", "1969-12-31T23:59:59.500000Z"},
      {"0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"},
      {"9999-12-31T23:59:59-01:00", nullptr, nullptr},  // its year does not have four digits
      {"0000-01-01T00:30:00+01:00", nullptr, nullptr},
      {"2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000000Z"},
      {"2025-02-29T00:00:00Z", nullptr, nullptr},
      {"2026-13-01T00:00:00Z", nullptr, nullptr},
      {"2026-11-21T24:00:00Z", nullptr, nullptr},
      {"2026-11-21T14:22:49", nullptr, nullptr},
      {"2026-11-21T14:22:49.Z", nullptr, nullptr},
      {"2026-11-21 14:22:49Z", nullptr, nullptr},
      {"2026-11-21T14:22:49Zx", nullptr, nullptr},
      {"26-11-21T14:22:49Z", nullptr, nullptr},
      {"", nullptr, nullptr},
      {"yesterday", nullptr, nullptr},
  };
  for (const auto& c : cases) {
    Result<Time> time = parse_time(c.text);
    ASSERT_EQ(time.has_value(), c.seconds != nullptr) << c.text;
    if (!time) continue;
    EXPECT_EQ(format_time(*time), c.seconds);
    EXPECT_EQ(format_micro_time(*time), c.micros);
  }
}

TEST(Duration, ReadsAndPrintsAsGoDoes) {
  struct {
    const char* text;
    std::int64_t ms;  // -1: refused
    const char* printed;
    const char* brief;
  } cases[] = {
      {"90s", 90'000, "1m30s", "1m30s"},
      {"20m", 1'200'000, "20m0s", "20m"},
      {"1h30m", 5'400'000, "1h30m0s", "1h30m"},
      {"1.5h", 5'400'000, "1h30m0s", "1h30m"},
      {"2h", 7'200'000, "2h0m0s", "2h"},
      {"2h5s", 7'205'000, "2h0m5s", "2h0m5s"},
      {"10s", 10'000, "10s", "10s"},
      {"100m", 6'000'000, "1h40m0s", "1h40m"},
      {"0s", 0, "0s", "0s"},
      {"250ms", 250, "250ms", "250ms"},
      {"1s500ms", 1500, "1.5s", "1.5s"},
      {"1.0009s", 1000, "1s", "1s"},
      {"168h", 604'800'000, "168h0m0s", "168h"},
      {"1d", -1, "", ""},
      {"2w", -1, "", ""},
      {"30", -1, "", ""},
      {"", -1, "", ""},
      {"h", -1, "", ""},
      {"-5m", -1, "", ""},
      {".5h", -1, "", ""},
      {"5.h", -1, "", ""},
      {"5us", -1, "", ""},
      {"5m ", -1, "", ""},
      {"99999999999999999999h", -1, "", ""},
      {"9007199254740993s", -1, "", ""},
  };
  for (const auto& c : cases) {
    Result<Duration> duration = parse_duration(c.text);
    ASSERT_EQ(duration.has_value(), c.ms >= 0) << c.text;
    if (!duration) continue;
    EXPECT_EQ(duration->count(), c.ms) << c.text;
    EXPECT_EQ(format_duration(*duration), c.printed);
    EXPECT_EQ(format_duration_short(*duration), c.brief);
  }
  EXPECT_NE(parse_duration("1d").error().message.find("24h for 1d"), std::string::npos);
  EXPECT_EQ(format_duration(-1500ms), "-1.5s");
}

TEST(IntOrPercent, IsANumberOrAShare) {
  struct {
    const char* text;
    std::int64_t of_8;  // -1: refused
    std::int64_t of_1;
  } cases[] = {{"2", 2, 2},     {"10%", 1, 1},  {"0%", 1, 1},    {"50%", 4, 1},
               {"100%", 8, 1},  {"0", 0, 0},    {"101%", -1, 0}, {"-1", -1, 0},
               {"2.5%", -1, 0}, {"ten", -1, 0}, {"", -1, 0},     {"%", -1, 0},
               {"10%%", -1, 0}, {"+5", -1, 0},  {" 5", -1, 0},   {"2147483648", -1, 0}};
  for (const auto& c : cases) {
    Result<IntOrPercent> budget = IntOrPercent::parse(c.text);
    ASSERT_EQ(budget.has_value(), c.of_8 >= 0) << c.text;
    if (!budget) continue;
    EXPECT_EQ(budget->of(8), c.of_8) << c.text;
    EXPECT_EQ(budget->of(1), c.of_1) << c.text;
    EXPECT_EQ(budget->str(), c.text);
  }
  EXPECT_EQ((IntOrPercent{100, true}.of(std::numeric_limits<std::int64_t>::max())),
            std::numeric_limits<std::int64_t>::max());
}

TEST(Selector, KnowsEveryOperator) {
  StringMap labels{{"tier", "gold"}, {"gpus", "8"}};
  struct {
    const char* what;
    SelectorRequirement requirement;
    bool holds;
  } cases[] = {
      {"In, listed", {"tier", SelectorOperator::kIn, {"silver", "gold"}}, true},
      {"In, not listed", {"tier", SelectorOperator::kIn, {"silver"}}, false},
      {"In, absent key", {"zone", SelectorOperator::kIn, {"a"}}, false},
      {"NotIn, listed", {"tier", SelectorOperator::kNotIn, {"gold"}}, false},
      {"NotIn, not listed", {"tier", SelectorOperator::kNotIn, {"silver"}}, true},
      {"NotIn holds for an absent key", {"zone", SelectorOperator::kNotIn, {"a"}}, true},
      {"Exists", {"tier", SelectorOperator::kExists, {}}, true},
      {"Exists, absent", {"zone", SelectorOperator::kExists, {}}, false},
      {"DoesNotExist", {"tier", SelectorOperator::kDoesNotExist, {}}, false},
      {"DoesNotExist, absent", {"zone", SelectorOperator::kDoesNotExist, {}}, true},
      {"Gt", {"gpus", SelectorOperator::kGt, {"7"}}, true},
      {"Gt is strict", {"gpus", SelectorOperator::kGt, {"8"}}, false},
      {"Gt of no number", {"tier", SelectorOperator::kGt, {"7"}}, false},
      {"Gt, absent", {"zone", SelectorOperator::kGt, {"7"}}, false},
      {"Lt", {"gpus", SelectorOperator::kLt, {"9"}}, true},
      {"Lt is strict", {"gpus", SelectorOperator::kLt, {"8"}}, false},
      {"Lt, absent", {"zone", SelectorOperator::kLt, {"9"}}, false},
      {"Lt of two numbers", {"gpus", SelectorOperator::kLt, {"9", "10"}}, false},
  };
  for (const auto& c : cases) EXPECT_EQ(matches(c.requirement, labels), c.holds) << c.what;
}

TEST(Selector, IsTheAndOfItsPartsAndPrintsAsKubectlDoes) {
  LabelSelector selector;
  EXPECT_TRUE(selector.matches({}));
  EXPECT_EQ(format(selector), "<everything>");
  selector.match_labels = {{"b", "2"}, {"a", "1"}};
  selector.match_expressions = {{"c", SelectorOperator::kIn, {"d", "e"}},
                                {"f", SelectorOperator::kDoesNotExist, {}},
                                {"g", SelectorOperator::kExists, {}},
                                {"h", SelectorOperator::kNotIn, {"i"}}};
  EXPECT_EQ(format(selector), "a=1,b=2,c in (d,e),!f,g,h notin (i)");
  EXPECT_TRUE(selector.matches({{"a", "1"}, {"b", "2"}, {"c", "e"}, {"g", ""}}));
  EXPECT_FALSE(selector.matches({{"a", "1"}, {"b", "2"}, {"c", "e"}, {"g", ""}, {"f", ""}}));
  EXPECT_FALSE(selector.matches({{"a", "1"}, {"b", "3"}, {"c", "e"}, {"g", ""}}));
}

TEST(ResourceVersion, IsOrderedOnlyWhereBothAreNumbers) {
  EXPECT_EQ(compare_resource_versions("9", "10"), std::strong_ordering::less);
  EXPECT_EQ(compare_resource_versions("10", "9"), std::strong_ordering::greater);
  EXPECT_EQ(compare_resource_versions("10", "10"), std::strong_ordering::equal);
  EXPECT_EQ(compare_resource_versions("99999999999999999999999999", "100000000000000000000000000"),
            std::strong_ordering::less);
  for (const char* odd : {"", "0", "01", "1a", "-1", "1.0"}) {
    EXPECT_EQ(compare_resource_versions(odd, "1"), std::nullopt) << odd;
    EXPECT_EQ(compare_resource_versions("1", odd), std::nullopt) << odd;
  }
}

TEST(Meta, ComparesWithoutResourceVersion) {
  ObjectMeta a{.name = "n", .resource_version = "1"}, b{.name = "n", .resource_version = "2"};
  EXPECT_EQ(a, b);
  b.generation = 1;
  EXPECT_NE(a, b);
  a.owner_references = {{"v1", "Node", "x", "u", false}, {"apps/v1", "ReplicaSet", "y", "v", true}};
  ASSERT_NE(a.controller(), nullptr);
  EXPECT_EQ(a.controller()->name, "y");
  EXPECT_EQ(b.controller(), nullptr);
  EXPECT_EQ(api_version(kKind<Pod>), "v1");
  EXPECT_EQ(api_version(kKind<MIGLayout>), "gpu.berth.dev/v1alpha1");
}

TEST(Text, IsStoredOnceAndGivenBack) {
  std::size_t before = Text::pool_size();
  {
    Text a("a text that nobody else uses"), b(std::string("a text that nobody else uses"));
    EXPECT_EQ(a, b);
    EXPECT_EQ(Text::pool_size(), before + 1);
    Text c = std::move(a);
    b = c;
    a = "another one";
    EXPECT_EQ(c, "a text that nobody else uses");
    EXPECT_EQ(Text::pool_size(), before + 2);
    EXPECT_LT(c, a = "b");
  }
  EXPECT_EQ(Text::pool_size(), before);
  EXPECT_TRUE(Text("").empty());
  EXPECT_EQ(Text(), Text(""));
}

TEST(Text, StaysOneWhileThousandsComeAndGo) {
  const std::size_t before = Text::pool_size();
  std::mt19937 random(7);
  std::map<int, std::vector<Text>> held;
  for (int step = 0; step < 50'000; ++step) {
    const int number = static_cast<int>(random() % 3000);
    const std::string text = "churn-" + std::to_string(number);
    std::vector<Text>& copies = held[number];
    if (!copies.empty() && random() % 2 == 0) {
      copies.pop_back();
      continue;
    }
    copies.emplace_back(text);
    ASSERT_EQ(copies.back().view(), text);
    ASSERT_EQ(copies.back(), copies.front()) << text;
  }
  std::erase_if(held, [](const auto& entry) { return entry.second.empty(); });
  EXPECT_EQ(Text::pool_size(), before + held.size());
  held.clear();
  EXPECT_EQ(Text::pool_size(), before);
}

// So many that some have equal 32-bit hashes.
TEST(Text, TwoOfOneHashAreTwo) {
  std::vector<Text> held;
  for (int i = 0; i < 300'000; ++i) held.emplace_back("text " + std::to_string(i));
  for (int i = 0; i < 300'000; ++i)
    ASSERT_EQ(held[static_cast<std::size_t>(i)].view(), "text " + std::to_string(i));
}

TEST(FlatMap, TakesEntriesInAnyOrderAndTheLastOfEqualKeys) {
  std::vector<StringMap::value_type> entries{{"b", "1"}, {"a", "2"}, {"b", "3"}, {"c", "4"}};
  const StringMap map = StringMap::take(entries);
  EXPECT_EQ(map, (StringMap{{"a", "2"}, {"b", "3"}, {"c", "4"}}));
  EXPECT_TRUE(entries.empty());
}

TEST(FlatMap, KeepsKeysSortedAndUnique) {
  StringMap map{{"b", "2"}, {"a", "1"}, {"b", "3"}};
  EXPECT_EQ(map.size(), 2u);
  EXPECT_EQ(map.get("b"), "3");
  EXPECT_EQ(map.begin()->first, "a");
  EXPECT_EQ(map.find("c"), nullptr);
  map["c"] = "4";
  map.erase("a");
  map.erase("zz");
  EXPECT_EQ(map, (StringMap{{"c", "4"}, {"b", "3"}}));
}

TEST(Tolerations, FollowTheScheduler) {
  Taint taint{"nvidia.com/gpu", "present", "NoSchedule"};
  struct {
    const char* what;
    std::vector<Toleration> tolerations;
    bool tolerated;
  } cases[] = {
      {"none", {}, false},
      {"everything", {{"", "Exists", "", ""}}, true},
      {"the key exists", {{"nvidia.com/gpu", "Exists", "", ""}}, true},
      {"key and value", {{"nvidia.com/gpu", "Equal", "present", "NoSchedule"}}, true},
      {"no operator means Equal", {{"nvidia.com/gpu", "", "present", ""}}, true},
      {"another value", {{"nvidia.com/gpu", "Equal", "absent", ""}}, false},
      {"another effect", {{"nvidia.com/gpu", "Exists", "", "NoExecute"}}, false},
      {"another key", {{"other", "Exists", "", ""}}, false},
      {"the second of two",
       {{"other", "Exists", "", ""}, {"nvidia.com/gpu", "Exists", "", ""}},
       true},
      {"an empty key with Equal", {{"", "Equal", "present", ""}}, false},
  };
  for (const auto& c : cases) EXPECT_EQ(tolerates(c.tolerations, taint), c.tolerated) << c.what;
}

TEST(Pods, UseAGpuWhenTheyAskForOne) {
  auto asks = [](const char* resource, std::int64_t count) {
    Pod pod;
    pod.shape.edit()->requests.set(resource, Quantity::whole(count));
    return uses_gpu(pod);
  };
  EXPECT_TRUE(asks("nvidia.com/gpu", 1));
  EXPECT_TRUE(asks("nvidia.com/gpu.shared", 1));
  EXPECT_TRUE(asks("nvidia.com/mig-1g.10gb", 1));
  EXPECT_FALSE(asks("nvidia.com/gpu", 0));
  EXPECT_FALSE(asks("cpu", 4));
  EXPECT_FALSE(asks("amd.com/gpu", 1));
  Pod claims;
  claims.shape.edit()->unmodelled = Unmodelled::kResourceClaims;
  EXPECT_TRUE(uses_gpu(claims));
}

TEST(Budgets, SelectInTheirOwnNamespaceOnly) {
  Pod pod;
  pod.meta.namespace_ = "a";
  pod.meta.labels = {{"app", "x"}};
  PodDisruptionBudget budget;
  budget.meta.namespace_ = "a";
  EXPECT_FALSE(budget.selects(pod)) << "no selector selects nothing";
  budget.selector.emplace();
  EXPECT_TRUE(budget.selects(pod)) << "an empty one selects all";
  budget.selector->match_labels = {{"app", "y"}};
  EXPECT_FALSE(budget.selects(pod));
  budget.selector->match_labels = {{"app", "x"}};
  EXPECT_TRUE(budget.selects(pod));
  budget.meta.namespace_ = "b";
  EXPECT_FALSE(budget.selects(pod));
}

TEST(NearestName, GuessesTyposAndNothingElse) {
  std::vector<std::string> names{"maxUnavailable", "order", "paused"};
  EXPECT_EQ(nearest_name("maxUnavialable", names), "maxUnavailable");
  EXPECT_EQ(nearest_name("Paused", names), "paused");
  EXPECT_EQ(nearest_name("ordre", names), "order");
  EXPECT_EQ(nearest_name("AZAZ", {"azaz"}), "azaz") << "in any case";
  EXPECT_EQ(nearest_name("@[@[", {"`{`{"}), "") << "which only letters have";
  EXPECT_EQ(nearest_name("zzz", names), "");
  EXPECT_EQ(nearest_name("", names), "");
  EXPECT_EQ(nearest_name(std::string(100'000, 'x'), names), "");
}

TEST(LayoutStatus, IsWrittenWithinTheServersBounds) {
  MIGLayoutStatus status;
  status.observed_generation = 3;
  status.config_hash = "6f3c9b1e";
  status.nodes = {.selected = 2, .updated = 1, .pending = 1};
  status.capacity = {{"nvidia.com/gpu", 4}};
  status.conditions = {{"Ready", "False", "Progressing", std::string(300, 'x'), 3,
                        *parse_time("2026-11-21T14:22:49Z")}};
  status.details.assign(
      150, NodeDetail{.node = "n", .phase = "Waiting", .message = "\xC3\x28 is no UTF-8"});
  std::string text = encode_status(status);
  EXPECT_NE(text.find("\"message\":\"" + std::string(253, 'x') + "...\""), std::string::npos);
  EXPECT_NE(text.find("\"lastTransitionTime\":\"2026-11-21T14:22:49Z\""), std::string::npos);
  std::size_t details = 0;
  for (auto at = text.find("\"node\":"); at != std::string::npos;
       at = text.find("\"node\":", at + 1))
    ++details;
  EXPECT_EQ(details, limits::kMaxDetails);

  MIGLayout read;
  read.meta.resource_version = "17";
  read.status = status;
  EXPECT_EQ(
      encode_status_patch(read, MIGLayoutStatus()),
      R"({"metadata":{"resourceVersion":"17"},"status":{"observedGeneration":0,"configHash":"","configs":[],"nodes":{"selected":0,"updated":0,)"
      R"("inProgress":0,"blocked":0,"failed":0,"pending":0},"capacity":{"nvidia.com/gpu":null},"details":[],)"
      R"("conditions":[]}})");
}

}  // namespace
}  // namespace berth
