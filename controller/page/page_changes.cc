// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "controller/page/page_state.h"

namespace berth {
namespace {

// A JSON list without its brackets; empty: no item.
class Listed {
 public:
  void add(const std::string& name, const std::string& json) {
    text_ += text_.empty() ? "" : ",";
    text_ += quoted(name) + ":" + json;
  }
  void add(const std::string& name) { text_ += (text_.empty() ? "" : ",") + quoted(name); }
  bool empty() const { return text_.empty(); }
  std::string object() const { return "{" + text_ + "}"; }
  std::string array() const { return "[" + text_ + "]"; }

 private:
  static std::string quoted(const std::string& name) {
    return nlohmann::json(name).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }
  std::string text_;
};

using Things = std::map<std::string, std::string>;

// The things of a kind; none if the state does not have the kind.
const Things& of_kind_in(const PageState& state, const std::string& kind) {
  static const Things kNone;
  const auto found = state.things.find(kind);
  return found == state.things.end() ? kNone : found->second;
}

}  // namespace

std::string print_json(const PageState& state, const std::string& id, const std::string& more) {
  Listed all;
  all.add("apiVersion", std::string("\"") + kPageApiVersion + "\"");
  if (!id.empty()) all.add("id", "\"" + id + "\"");
  for (const auto& [name, json] : state.values) all.add(name, json);
  for (const auto& [kind, things] : state.things) {
    Listed of_kind;
    for (const auto& [name, json] : things) of_kind.add(name, json);
    all.add(kind, of_kind.object());
  }
  std::string text = all.object();
  text.insert(text.size() - 1, more);
  return text;
}

std::string print_changes(const PageState& before, const PageState& after) {
  Listed set, gone, values;
  for (const auto& [kind, things] : after.things) {
    const Things& known = of_kind_in(before, kind);
    Listed of_kind;
    for (const auto& [name, json] : things)
      if (!known.contains(name) || known.at(name) != json) of_kind.add(name, json);
    if (!of_kind.empty()) set.add(kind, of_kind.object());
  }
  for (const auto& [kind, things] : before.things) {
    const Things& now = of_kind_in(after, kind);
    Listed of_kind;
    for (const auto& [name, json] : things)
      if (!now.contains(name)) of_kind.add(name);
    if (!of_kind.empty()) gone.add(kind, of_kind.array());
  }
  for (const auto& [name, json] : after.values)
    if (const auto known = before.values.find(name);
        known == before.values.end() || known->second != json)
      values.add(name, json);
  Listed all;
  if (!set.empty()) all.add("set", set.object());
  if (!gone.empty()) all.add("gone", gone.object());
  if (!values.empty()) all.add("values", values.object());
  return all.object();
}

}  // namespace berth
