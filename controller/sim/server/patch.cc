// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/server/patch.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "controller/sim/server/status.h"
#include "controller/sim/world/object_fields.h"

namespace berth::sim {

using nlohmann::json;

namespace {

std::string unescape(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool escaped = token[i] == '~' && i + 1 < token.size();
    if (escaped && token[i + 1] == '1')
      out += '/', ++i;
    else if (escaped && token[i + 1] == '0')
      out += '~', ++i;
    else
      out += token[i];
  }
  return out;
}

// The index that the token means in an array of `size`; `past_end` allows the position after the
// last.
std::optional<std::size_t> index_of(const std::string& token, std::size_t size, bool past_end) {
  if (past_end && token == "-") return size;
  std::int64_t index = 0;
  const auto [stopped, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  if (token.empty() || error != std::errc() || stopped != token.data() + token.size())
    return std::nullopt;
  const auto limit = static_cast<std::int64_t>(size + (past_end ? 1 : 0));
  if (index < 0) index += limit;
  if (index < 0 || index >= limit) return std::nullopt;
  return static_cast<std::size_t>(index);
}

// The container of the value that a pointer names, and the last token. The container is null if it
// does not exist.
struct Place {
  json* container = nullptr;
  std::string key;

  // Null if the value does not exist.
  json* find() const {
    if (container->is_object()) {
      const auto found = container->find(key);
      return found == container->end() ? nullptr : &*found;
    }
    const auto index = index_of(key, container->size(), false);
    if (!index) throw refused_patch();
    return &(*container)[*index];
  }
  void add(json value) const {
    if (container->is_object()) {
      (*container)[key] = std::move(value);
      return;
    }
    const auto index = index_of(key, container->size(), true);
    if (!index) throw refused_patch();
    container->insert(container->begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
  }
  json take() const {
    json* found = find();
    if (found == nullptr) throw refused_patch();
    json value = std::move(*found);
    if (container->is_object())
      container->erase(key);
    else
      container->erase(*index_of(key, container->size(), false));
    return value;
  }
  void replace(json value) const {
    if (container->is_object())
      (*container)[key] = std::move(value);
    else
      *find() = std::move(value);
  }
};

Place locate(json& object, const std::string& pointer) {
  std::size_t slash = pointer.find('/');
  if (slash == std::string::npos) throw refused_patch();
  json* at = &object;
  while (true) {
    const std::size_t next = pointer.find('/', slash + 1);
    std::string token = unescape(std::string_view(pointer).substr(
        slash + 1, next == std::string::npos ? next : next - slash - 1));
    if (next == std::string::npos) return {at, std::move(token)};
    json* child = Place{at, std::move(token)}.find();
    if (child == nullptr || !child->is_structured()) throw refused_patch();
    at = child;
    slash = next;
  }
}

// Whether one of its texts has a character that Go escapes.
bool holds_what_go_escapes(const json& value) {
  if (value.is_string()) return has_what_go_escapes(value.get_ref<const std::string&>());
  return value.is_structured() && std::ranges::any_of(value, holds_what_go_escapes);
}

void test(json& object, const std::string& pointer, const json& wanted, bool escaped_as_go) {
  if (!escaped_as_go && holds_what_go_escapes(wanted)) throw refused_patch();
  if (pointer.empty()) {
    if (object != wanted) throw refused_patch();
    return;
  }
  const json* found = locate(object, pointer).find();
  if (found == nullptr ? !wanted.is_null() : *found != wanted) throw refused_patch();
}

std::string member(const json& operation, const char* name) {
  const json* found = find_at(operation, {name});
  if (found == nullptr || !found->is_string()) throw refused_patch();
  return found->get<std::string>();
}

void run(json& object, const json& operation, bool escaped_as_go) {
  const std::string op = text_at(operation, {"op"});
  const json* given = find_at(operation, {"value"});
  const json value = given == nullptr ? json() : *given;
  const std::string path = member(operation, "path");
  if (op == "test") {
    test(object, path, value, escaped_as_go);
  } else if (op == "add") {
    locate(object, path).add(value);
  } else if (op == "remove") {
    locate(object, path).take();
  } else if (op == "replace" && path.empty()) {
    if (!value.is_structured()) throw refused_patch();
    object = value;
  } else if (op == "replace") {
    locate(object, path).replace(value);
  } else if (op == "move") {
    json moved = locate(object, member(operation, "from")).take();
    locate(object, path).add(std::move(moved));
  } else if (op == "copy") {
    const json* source = locate(object, member(operation, "from")).find();
    json copied = source == nullptr ? json() : *source;
    locate(object, path).add(std::move(copied));
  } else {
    throw refused_patch();
  }
}

void merge(json& target, const json& patch) {
  if (!patch.is_object()) {
    target = patch;
    return;
  }
  if (!target.is_object()) target = json::object();
  for (const auto& [key, value] : patch.items()) {
    if (value.is_null())
      target.erase(key);
    else
      merge(target[key], value);
  }
}

}  // namespace

bool has_what_go_escapes(std::string_view text) {
  return text.find_first_of("<>&") != text.npos || text.find("\u2028") != text.npos ||
         text.find("\u2029") != text.npos;
}

void apply_json_patch(json& object, const json& patch, bool escaped_as_go) {
  if (!patch.is_array())
    throw bad_request("error decoding patch: a JSON patch is a list of operations");
  for (const json& operation : patch) {
    if (!operation.is_object())
      throw bad_request("error decoding patch: an operation of a JSON patch is an object");
    run(object, operation, escaped_as_go);
  }
}

void apply_merge_patch(json& object, const json& patch) {
  if (!patch.is_object()) throw bad_request("error decoding patch: a merge patch is an object");
  merge(object, patch);
}

}  // namespace berth::sim
