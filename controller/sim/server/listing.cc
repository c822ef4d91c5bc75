// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/listing.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "controller/sim/server/selectors.h"
#include "controller/sim/server/status.h"
#include "controller/sim/server/writes.h"
#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;

namespace {

// A continue token: the revision, and the last key of the page. The real one is opaque too.
struct Token {
  std::int64_t revision = 0;
  std::string namespace_;
  std::string name;
};

std::string encode(const Token& token) {
  return fmt::format("{}.{}/{}", token.revision, token.namespace_, token.name);
}

Token decode_token(const std::string& text) {
  const std::size_t dot = text.find('.');
  const std::size_t slash = text.find('/');
  const auto revision = parse_revision(std::string_view(text).substr(0, dot));
  if (!revision || slash == std::string::npos || slash < dot)
    throw bad_request("invalid continue token: continue key is not valid");
  return {*revision, text.substr(dot + 1, slash - dot - 1), text.substr(slash + 1)};
}

struct Page {
  std::int64_t revision = 0;
  std::vector<ObjectPtr> objects;
  std::string continue_token;
  std::size_t remaining = 0;
};

std::vector<ObjectPtr> objects_at(const Store& store, const Target& target, std::int64_t revision) {
  if (revision == store.revision()) return store.list(*target.type, target.namespace_);
  if (revision < store.compacted())
    throw expired(
        "The provided continue parameter is too old to display a consistent list result. You can "
        "start a new list without the continue parameter, or use the continue token in this "
        "response to retrieve the remainder of the results. Continuing with the provided token "
        "results in an inconsistent list - objects that were created, modified, or deleted between "
        "the time the first chunk was returned and now may show up in the list.");
  return store.list_at(*target.type, target.namespace_, revision);
}

std::int64_t revision_of(const Store& store, const Target& target) {
  const std::string wanted = target.option("resourceVersion");
  const std::int64_t revision = parse_revision(wanted).value_or(0);
  if (revision > store.revision()) throw version_too_large(revision, store.revision());
  // A limit with a resourceVersion means exactly that version, as before resourceVersionMatch.
  const std::string match = target.option("resourceVersionMatch");
  const std::int64_t limit = parse_revision(target.option("limit")).value_or(0);
  if (revision > 0 && (match == "Exact" || (match.empty() && limit > 0))) {
    if (revision < store.compacted())
      throw expired("The resourceVersion for the provided list is too old.");
    return revision;
  }
  return store.revision();
}

// A list by metadata.name reads one key in its present state and ignores other options; null if the
// list is none.
const std::string* name_wanted(const Target& target, const Selector& selector) {
  if (target.type->namespaced && target.namespace_.empty()) return nullptr;
  for (const FieldRequirement& field : selector.fields)
    if (field.path == "metadata.name" && field.equal) return &field.value;
  return nullptr;
}

Page compute_page(const Store& store, const Target& target, const Selector& selector) {
  Page page;
  if (const std::string* name = name_wanted(target, selector); name != nullptr) {
    // Only to refuse a version that does not exist, or an invalid token.
    revision_of(store, target);
    if (const std::string text = target.option("continue"); !text.empty()) decode_token(text);
    page.revision = store.revision();
    ObjectPtr object = store.find({target.type, target.namespace_, *name});
    if (object != nullptr && selector.matches(*object)) page.objects.push_back(std::move(object));
    return page;
  }
  std::optional<Token> after;
  if (const std::string text = target.option("continue"); !text.empty()) {
    after = decode_token(text);
    page.revision = after->revision;
  } else {
    page.revision = revision_of(store, target);
  }
  const auto limit = static_cast<std::size_t>(parse_revision(target.option("limit")).value_or(0));
  for (ObjectPtr& object : objects_at(store, target, page.revision)) {
    Token key{page.revision, text_at(*object, {"metadata", "namespace"}),
              text_at(*object, {"metadata", "name"})};
    if (after && std::tie(key.namespace_, key.name) <= std::tie(after->namespace_, after->name))
      continue;
    // After a full page the server stops searching: the rest may not match at all.
    if (limit > 0 && page.objects.size() == limit) {
      ++page.remaining;
    } else if (selector.matches(*object)) {
      if (page.objects.size() + 1 == limit) page.continue_token = encode(key);
      page.objects.push_back(std::move(object));
    }
  }
  if (page.remaining == 0) page.continue_token.clear();
  return page;
}

// Items of built-in kinds omit apiVersion and kind.
std::string item_text(const ResourceType& type, const json& object) {
  if (is_custom(type)) return to_text(object);
  std::string text = "{";
  for (const auto& [key, value] : object.items()) {
    if (key == "kind" || key == "apiVersion") continue;
    if (text.size() > 1) text += ',';
    text += quote(key) + ':' + to_text(value);
  }
  return text + "}";
}

Cause unsupported_match(const std::string& match, const char* supported) {
  return {"FieldValueNotSupported",
          fmt::format("Unsupported value: {}: supported values: {}", quote(match), supported),
          "resourceVersionMatch"};
}

std::vector<Cause> find_wrong_options(const Target& target, const std::string& match,
                                      const std::string& version) {
  std::vector<Cause> causes;
  const auto forbid = [&](const char* field, const char* why) {
    causes.push_back(forbidden_field(field, why));
  };
  if (!target.option("sendInitialEvents").empty())
    forbid("sendInitialEvents", "sendInitialEvents is forbidden for list");
  if (match.empty()) return causes;
  if (version.empty())
    forbid("resourceVersionMatch",
           "resourceVersionMatch is forbidden unless resourceVersion is provided");
  if (!target.option("continue").empty())
    forbid("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided");
  if (match != "Exact" && match != "NotOlderThan")
    causes.push_back(unsupported_match(match, R"("Exact", "NotOlderThan", "")"));
  if (match == "Exact" && version == "0")
    forbid("resourceVersionMatch",
           "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
  return causes;
}

std::vector<Cause> find_wrong_watch_options(const Target& target, const std::string& match) {
  std::vector<Cause> causes;
  const bool initial = !target.option("sendInitialEvents").empty();
  if (initial && match != "NotOlderThan")
    causes.push_back(
        forbidden_field("resourceVersionMatch",
                        "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"));
  if (!initial && !match.empty())
    causes.push_back(forbidden_field(
        "resourceVersionMatch",
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"));
  if (!match.empty() && match != "NotOlderThan")
    causes.push_back(unsupported_match(match, R"("NotOlderThan")"));
  return causes;
}

}  // namespace

void check_list_options(const Target& target, bool watch) {
  const std::string match = target.option("resourceVersionMatch");
  const std::string version = target.option("resourceVersion");
  if (!version.empty() && !parse_revision(version))
    throw internal_error(
        fmt::format("resourceVersion: Invalid value: {}: strconv.ParseUint: "
                    "parsing {}: invalid syntax",
                    quote(version), quote(version)));
  const std::vector<Cause> causes =
      watch ? find_wrong_watch_options(target, match) : find_wrong_options(target, match, version);
  if (!causes.empty()) throw invalid_options("ListOptions.meta.k8s.io", causes);
  if (!watch && !target.option("continue").empty() && !version.empty() && version != "0")
    throw bad_request("specifying resource version is not allowed when using continue");
}

std::string list_objects(const Store& store, const Target& target) {
  // The order of checks: labels, the other options, then field selectors of the kind.
  const std::string labels = target.option("labelSelector");
  parse_selector(*target.type, labels, "");
  check_list_options(target, false);
  const Selector selector = parse_selector(*target.type, labels, target.option("fieldSelector"));
  const Page page = compute_page(store, target, selector);
  std::string text =
      fmt::format(R"({{"kind":"{}List","apiVersion":"{}","metadata":{{"resourceVersion":"{}")",
                  target.type->kind, target.type->api_version(), page.revision);
  if (!page.continue_token.empty()) text += R"(,"continue":)" + quote(page.continue_token);
  // With a selector the server does not know how many items remain.
  if (page.remaining > 0 && selector.empty())
    text += fmt::format(R"(,"remainingItemCount":{})", page.remaining);
  text += R"(},"items":[)";
  for (std::size_t i = 0; i < page.objects.size(); ++i) {
    if (i > 0) text += ',';
    text += item_text(*target.type, *page.objects[i]);
  }
  return text + "]}";
}

}  // namespace berth::sim
