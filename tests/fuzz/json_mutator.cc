// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/json_mutator.h"

#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

namespace berth::test {
namespace {

using namespace std::string_view_literals;
using Json = nlohmann::json;

// Quantities, durations, dates, schedules, selectors, MIG profiles and names, right and wrong.
constexpr std::string_view kTexts[] = {
    "",
    " ",
    "0",
    "-1",
    "1e999",
    "9223372036854775808",
    "1n",
    "1Ei",
    "999999999999999999999Gi",
    "100%",
    "101%",
    "-5%",
    "50.5%",
    "0s",
    "1ns",
    "9999999h",
    "1h1h1h",
    "-30m",
    "2026-11-21T12:00:00Z",
    "9999-12-31T23:59:59Z",
    "0000-00-00T00:00:00Z",
    "2026-02-30T00:00:00+14:00",
    "0 3 * * *",
    "* * * * * *",
    "60 25 32 13 8",
    "*/0 * * * *",
    "0 0 29 2 *",
    "0-99999999999 * * * *",
    "FREQ=SECONDLY;COUNT=0",
    "Europe/Berlin",
    "Mars/Olympus",
    "../../etc/passwd",
    "1g.10gb",
    "7g.80gb",
    "9g.90gb",
    "1g.10gb+me",
    "1g.5gb.shared",
    "nvidia.com/gpu",
    "nvidia.com/mig-1g.10gb",
    "kubernetes.io/hostname",
    "node-role.kubernetes.io/control-plane",
    "gpu.berth.dev/pool",
    "/",
    "a/b/c",
    "UPPER_case",
    "-leading",
    "cluster",
    "default",
    "In",
    "NotIn",
    "Exists",
    "NoExecute",
    "Force",
    "AllPods",
    "{{ .Release }}",
    "$(reboot)",
    "%s%n%x",
    "<script>",
    "line\nbreak\r\n",
    "nul\0inside"sv,
    "\x1b]0;title\x07\x1b[31m",
    "größer 🚀 \u202e right to left",
    "\u00ad\u200b\ufeff",
    "e\u0301",
};

constexpr std::int64_t kWhole[] = {0,
                                   1,
                                   -1,
                                   2,
                                   7,
                                   64,
                                   65,
                                   1000,
                                   65536,
                                   2147483647,
                                   -2147483648LL,
                                   2147483648LL,
                                   9007199254740993LL,
                                   9223372036854775807LL,
                                   -9223372036854775807LL - 1};

Json nested(std::size_t depth, bool lists) {
  Json value = 1;
  for (std::size_t i = 0; i < depth; ++i)
    value = lists ? Json::array({std::move(value)}) : Json{{"a", std::move(value)}};
  return value;
}

}  // namespace

Json JsonMutator::mutated(Json value) {
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) change(value);
  return value;
}

// Descends to a random place, and may stop at each step, so that it changes shallow places too.
void JsonMutator::change(Json& value) {
  if (value.is_object() && !value.empty() && below(8) != 0) return change_object(value);
  if (value.is_array() && !value.empty() && below(8) != 0) return change_list(value);
  if (value.is_string() && below(2) == 0)
    value = meaningful();
  else if (value.is_number() && below(2) == 0)
    value = kWhole[below(std::size(kWhole))];
  else
    value = absurd();
}

void JsonMutator::change_object(Json& object) {
  auto member = std::next(object.begin(), static_cast<std::ptrdiff_t>(below(object.size())));
  switch (below(12)) {
    case 0:
      object.erase(member);
      return;
    case 1:
      object[meaningful()] = absurd();
      return;
    case 2: {  // under another name
      Json moved = *member;
      object.erase(member);
      object[meaningful()] = std::move(moved);
      return;
    }
    default:
      change(*member);
  }
}

void JsonMutator::change_list(Json& list) {
  const std::size_t at = below(list.size());
  switch (below(10)) {
    case 0:
      list.erase(at);
      return;
    case 1: {
      const Json twin = list[at];
      for (std::size_t more = below(10) == 0 ? 2000 : 1 + below(20); more > 0; --more)
        list.push_back(twin);
      return;
    }
    case 2:
      list.push_back(absurd());
      return;
    default:
      change(list[at]);
  }
}

Json JsonMutator::absurd() {
  switch (below(14)) {
    case 0:
      return nullptr;
    case 1:
      return below(2) == 0;
    case 2:
      return kWhole[below(std::size(kWhole))];
    case 3:
      return 1e308 * static_cast<double>(below(2)) + 0.1;
    case 4:
      return Json::array();
    case 5:
      return Json::object();
    case 6:
      return nested(1 + below(100), below(2) == 0);
    case 7:
      return std::string(1 + below(below(8) == 0 ? 100'000 : 300), below(2) == 0 ? 'a' : '9');
    case 8: {
      Json list = Json::array();
      for (std::size_t n = below(below(8) == 0 ? 3'000 : 40); n > 0; --n) list.push_back(n);
      return list;
    }
    case 9: {
      Json object;
      for (std::size_t n = below(below(8) == 0 ? 1'000 : 20); n > 0; --n)
        object["k" + std::to_string(n)] = meaningful();
      return object;
    }
    default:
      return meaningful();
  }
}

std::string JsonMutator::meaningful() { return std::string(kTexts[below(std::size(kTexts))]); }

}  // namespace berth::test
