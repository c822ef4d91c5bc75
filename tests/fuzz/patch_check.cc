// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "controller/core/json_patch.h"
#include "controller/sim/server/patch.h"
#include "controller/sim/server/status.h"
#include "tests/fuzz/checks.h"
#include "tests/fuzz/plain_json.h"

namespace berth::test {
namespace {

using Json = nlohmann::json;

std::optional<Json> applied(Json object, const Json& patch) {
  try {
    if (patch.is_array())
      sim::apply_json_patch(object, patch);
    else
      sim::apply_merge_patch(object, patch);
    return object;
  } catch (const sim::Refusal& refusal) {
    return std::nullopt;
  }
}

// The result of the tests' JSON library, which implements the RFC and not the API server.
std::optional<Json> applied_by_library(Json object, const Json& patch) {
  try {
    if (patch.is_array()) return object.patch(patch);
    object.merge_patch(patch);
    return object;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

// The API server's library never changes the whole document: that path works only for a test, and
// for a replacement by an object or a list.
bool names_the_whole(const Json& patch) {
  return std::ranges::any_of(patch, [](const Json& operation) {
    return operation.value("path", Json()) == "" || operation.value("from", Json("x")) == "";
  });
}

// A label with any key and value, set by berth's own patches.
std::string check_own(const std::string& key, const std::string& value) {
  const JsonPatch patch = JsonPatch()
                              .test_absent(label_path(key))
                              .set(label_path(key), value)
                              .test(label_path(key), value);
  const Json parsed = Json::parse(patch.str(), nullptr, false);
  if (parsed.is_discarded()) return "no JSON: " + patch.str();
  const std::optional<Json> after =
      applied(Json{{"metadata", {{"labels", {{"other", "x"}}}}}}, parsed);
  if (key == "other") return after ? "a test of absence passes where something is" : "";
  if (!after || (*after)["metadata"]["labels"].value(key, "") != value)
    return "a label that is not set: " + patch.str();
  return (*after)["metadata"]["labels"].size() == 2 ? "" : "another label: " + patch.str();
}

}  // namespace

Verdict check_patch(std::string_view input) {
  const std::size_t end = std::min(input.find('\n'), input.size());
  const std::string_view first = input.substr(0, end);
  const std::string_view second = input.substr(std::min(end + 1, input.size()));
  if (is_utf8(first) && is_utf8(second) && !first.empty())
    if (std::string wrong = check_own(std::string(first), std::string(second)); !wrong.empty())
      return {.wrong = wrong};
  const std::optional<Json> object = plain_json(first), patch = plain_json(second);
  if (!object || !patch || !object->is_object() || !patch->is_structured()) return {};
  const std::optional<Json> ours = applied(*object, *patch);
  if (patch->is_array() && names_the_whole(*patch)) return {.read = ours.has_value()};
  const std::optional<Json> expected = applied_by_library(*object, *patch);
  Verdict verdict{.read = ours.has_value()};
  if (expected && !ours) verdict.wrong = "refused, though it applies";
  if (expected && ours && *ours != *expected)
    verdict.wrong = "applied to " + ours->dump() + " instead of " + expected->dump();
  return verdict;
}

}  // namespace berth::test
