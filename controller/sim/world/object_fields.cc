// SPDX-License-Identifier: Apache-2.0
#include "controller/sim/world/object_fields.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace berth::sim {

using nlohmann::json;

namespace {

// Nearly all objects have few members. Then comparing the names' lengths is faster than comparing
// texts along the tree.
const json* find_member(const json::object_t& members, std::string_view name) {
  constexpr std::size_t kFew = 12;
  if (members.size() > kFew) {
    const auto found = members.find(name);
    return found == members.end() ? nullptr : &found->second;
  }
  for (const auto& [key, value] : members)
    if (key == name) return &value;
  return nullptr;
}

std::string dump(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

// Bytes that need no escape; UTF-8 beyond ASCII is excluded.
constexpr auto kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = ' '; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

// The library writes texts with any other byte.
void write_text(const std::string& text, std::string& out) {
  const auto is_plain = [](char c) { return kPlain[static_cast<unsigned char>(c)]; };
  const std::size_t begun_at = out.size();
  out += '"';
  for (auto from = text.begin(); from != text.end();) {
    const auto stop = std::find_if_not(from, text.end(), is_plain);
    out.append(from, stop);
    if (stop == text.end()) break;
    if (*stop != '"' && *stop != '\\' && *stop != '\n') {
      out.replace(begun_at, std::string::npos, dump(text));
      return;
    }
    out += '\\';
    out += *stop == '\n' ? 'n' : *stop;
    from = stop + 1;
  }
  out += '"';
}

// The output of dump() in a third of its time, because each change is written for its watchers.
void write(const json& value, std::string& out) {
  if (const auto* object = value.get_ptr<const json::object_t*>()) {
    char before = '{';
    for (const auto& [name, member] : *object) {
      out += std::exchange(before, ',');
      write_text(name, out);
      out += ':';
      write(member, out);
    }
    out += object->empty() ? "{}" : "}";
  } else if (const auto* array = value.get_ptr<const json::array_t*>()) {
    char before = '[';
    for (const json& item : *array) {
      out += std::exchange(before, ',');
      write(item, out);
    }
    out += array->empty() ? "[]" : "]";
  } else if (const auto* text = value.get_ptr<const json::string_t*>()) {
    write_text(*text, out);
  } else {
    out += dump(value);
  }
}

}  // namespace

const json* find_at(const json& object, FieldPath path) {
  const json* at = &object;
  for (const char* member : path) {
    const auto* object_here = at->get_ptr<const json::object_t*>();
    if (object_here == nullptr) return nullptr;
    at = find_member(*object_here, member);
    if (at == nullptr) return nullptr;
  }
  return at;
}

std::string text_at(const json& object, FieldPath path) {
  const json* found = find_at(object, path);
  return found != nullptr && found->is_string() ? found->get_ref<const std::string&>()
                                                : std::string();
}

std::optional<std::int64_t> integer_at(const json& object, FieldPath path) {
  const json* found = find_at(object, path);
  if (found == nullptr || !found->is_number_integer()) return std::nullopt;
  return found->get<std::int64_t>();
}

bool true_at(const json& object, FieldPath path) {
  const json* found = find_at(object, path);
  return found != nullptr && found->is_boolean() && found->get<bool>();
}

bool holds_text(const json& object, FieldPath path, const std::string& text) {
  const json* found = find_at(object, path);
  return found != nullptr && found->is_array() &&
         std::find(found->begin(), found->end(), text) != found->end();
}

// Writes into a buffer that keeps its memory, so that a text of kilobytes is not copied at each
// growth.
std::string to_text(const json& object) {
  thread_local std::string text;
  text.clear();
  write(object, text);
  return text;
}

}  // namespace berth::sim
