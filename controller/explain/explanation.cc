// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/explanation.h"

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

Json encode(const MissingRights& rights) {
  return {{"resources", rights.resources}, {"grant", rights.grant}};
}

Json encode(const Explanation& e) {
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
  if (!e.rights.resources.empty()) out["notRead"] = encode(e.rights);
  return out;
}

std::string dump(const Json& document) {
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void tell_remedy(std::size_t number, const Explanation::Remedy& remedy, std::string& text) {
  const auto out = std::back_inserter(text);
  tell(out, "  {}. {}\n", number, remedy.message);
  for (std::string_view rest = remedy.line; !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    tell(out, "       {}\n", rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

void tell_rights(const MissingRights& rights, std::string& text) {
  if (rights.resources.empty()) return;
  tell(std::back_inserter(text), "\nNot read, since this account may not: {}; to grant it: {}\n",
       fmt::format("{}", fmt::join(rights.resources, ", ")), rights.grant);
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
  if (!e.remedies.empty()) text += "\nWhat would change it, the most promising first\n";
  for (std::size_t i = 0; i < e.remedies.size(); ++i) tell_remedy(i + 1, e.remedies[i], text);
  tell_rights(e.rights, text);
  return text;
}

std::string print_json(const Explanation& e) { return dump(encode(e)); }

std::string print_text(const WaitingList& list) {
  std::string text;
  const auto out = std::back_inserter(text);
  if (list.items.empty() && list.not_listed.empty())
    tell(out, "No pod waits for GPUs in {}.\n", list.where);
  std::size_t namespaces = 0, names = 0, reasons = 0;
  const auto name_of = [](const Explanation& e) {
    return fmt::format("{}/{}", e.subject.kind, e.subject.name);
  };
  for (const Explanation& e : list.items) {
    namespaces = std::max(namespaces, e.subject.namespace_.size() + 2);
    names = std::max(names, name_of(e).size());
    reasons = std::max(reasons, e.reason.size());
  }
  for (const Explanation& e : list.items) {
    if (list.of_all_namespaces) tell(out, "{:<{}}", e.subject.namespace_, namespaces);
    tell(out, "{:<{}}  {:<{}}  {}\n", name_of(e), names, e.reason, reasons, e.message);
  }
  if (!list.not_listed.empty())
    tell(out,
         "{}Whether {} waits for GPUs in {} is not known: this account may not list {} there.\n",
         list.items.empty() ? "" : "\n", list.items.empty() ? "a workload" : "another workload",
         list.where, fmt::format("{}", fmt::join(list.not_listed, ", ")));
  tell_rights(list.rights, text);
  return text;
}

std::string print_json(const WaitingList& list) {
  Json out = {
      {"apiVersion", kWhyApiVersion}, {"kind", "ExplanationList"}, {"items", Json::array()}};
  for (const Explanation& e : list.items) out["items"].push_back(encode(e));
  if (!list.not_listed.empty()) out["notListed"] = list.not_listed;
  if (!list.rights.resources.empty()) out["notRead"] = encode(list.rights);
  return dump(out);
}

}  // namespace berth
