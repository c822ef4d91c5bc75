// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/why_explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>

#include "controller/preview/tell.h"
#include "controller/preview/words.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

std::string line_of(const Explanation::Fact& fact) {
  return fmt::format("{}{}", fact.nodes.empty() ? "" : name_some(fact.nodes) + ": ", fact.message);
}

Json encode(const Explanation::Fact& fact) {
  return {{"topic", fact.topic},
          {"reason", fact.reason},
          {"message", fact.message},
          {"nodes", fact.nodes}};
}

Json encode(const Explanation::Remedy& remedy) {
  return {{"message", remedy.message}, {"line", remedy.line}, {"nodes", remedy.nodes}};
}

}  // namespace

std::string print_text(const Explanation& e) {
  std::string text;
  const auto out = std::back_inserter(text);
  tell(out, "{}: {}{}\n  {}\n", e.subject.str(), e.state, e.reason.empty() ? "" : ", " + e.reason,
       e.message);
  std::size_t width = 0;
  for (const Explanation::Fact& fact : e.facts) width = std::max(width, fact.topic.size());
  if (!e.facts.empty()) text += "\n";
  std::string_view last;
  for (const Explanation::Fact& fact : e.facts) {
    tell(out, "  {:<{}}  {}\n", fact.topic == last ? "" : fact.topic, width, line_of(fact));
    last = fact.topic;
  }
  if (e.remedies.empty()) return text;
  text += "\nWhat would change it, the most promising first\n";
  for (std::size_t i = 0; i < e.remedies.size(); ++i) {
    const Explanation::Remedy& remedy = e.remedies[i];
    tell(out, "  {}. {}\n", i + 1, remedy.message);
    if (!remedy.line.empty()) tell(out, "       {}\n", remedy.line);
  }
  return text;
}

std::string print_json(const Explanation& e) {
  Json out = {{"apiVersion", kWhyApiVersion},
              {"kind", "Explanation"},
              {"subject",
               {{"kind", e.subject.kind},
                {"namespace", e.subject.namespace_},
                {"name", e.subject.name},
                {"uid", e.subject.uid}}},
              {"state", e.state},
              {"reason", e.reason},
              {"message", e.message},
              {"facts", Json::array()},
              {"remedies", Json::array()}};
  for (const Explanation::Fact& fact : e.facts) out["facts"].push_back(encode(fact));
  for (const Explanation::Remedy& remedy : e.remedies) out["remedies"].push_back(encode(remedy));
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace berth
