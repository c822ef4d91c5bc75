// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/yaml.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "controller/preview/json.h"

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

// Numbers, timestamps and ~ do not begin with a letter. YAML 1.1 does not read these words as
// strings.
bool is_bare(std::string_view text) {
  static constexpr std::string_view kWords[] = {"true", "false", "yes", "no", "on",
                                                "off",  "null",  "y",   "n"};
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (text.empty() || !is_letter(text.front())) return false;
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return std::ranges::find(kWords, lower) == std::end(kWords) &&
         std::ranges::all_of(text, [&](char c) {
           return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-' ||
                  c == '/';
         });
}

// JSON's quoting is valid YAML, except that YAML requires DEL to be escaped.
std::string scalar(const Json& value) {
  if (value.is_string() && is_bare(value.get_ref<const std::string&>()))
    return value.get<std::string>();
  std::string out;
  for (char c : value.dump(-1, ' ', false, Json::error_handler_t::replace))
    c == '\x7f' ? out.append("\\x7f") : out.append(1, c);
  return out;
}

bool is_scalar(const Json& value) { return !value.is_structured() || value.empty(); }

// Writes the value after "key:" or "-", with the separator. An item's members begin on its own
// line.
void write(const Json& value, std::size_t indent, bool in_list, std::string& out) {
  if (is_scalar(value)) {
    out.append(" ").append(scalar(value)).append("\n");
    return;
  }
  const std::string margin(indent, ' ');
  bool on_this_line = in_list;
  if (!in_list) out += "\n";
  const auto begin_line = [&] { out += std::exchange(on_this_line, false) ? " " : margin; };
  if (value.is_array()) {
    for (const Json& item : value) {
      begin_line();
      out += "-";
      write(item, indent + 2, true, out);
    }
    return;
  }
  for (const auto& [key, member] : value.items()) {
    begin_line();
    out.append(scalar(key)).append(":");
    write(member, indent + (member.is_array() ? 0 : 2), false, out);
  }
}

}  // namespace

std::string json_to_yaml(std::string_view json) {
  std::string out;
  write(Json::parse(json), 0, false, out);
  out.erase(0, 1);  // removes the separator between a key and its value
  return out;
}

std::string print_yaml(const Projection& projection) {
  return json_to_yaml(print_json(projection));
}

}  // namespace berth
