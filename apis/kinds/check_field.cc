// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>

#include "apis/base/base64.h"
#include "apis/base/cut.h"
#include "apis/base/int_or_percent.h"
#include "apis/base/nearest_name.h"
#include "apis/base/time.h"
#include "apis/kinds/fields.h"

namespace berth {
namespace {

using Json = nlohmann::json;

std::string join(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
  return text;
}

std::string shorten(std::string_view text) { return cut(text, 67, "..."); }

std::string describe_value(const Json& value) {
  if (value.is_object()) return "a map";
  if (value.is_array()) return "a list";
  if (value.is_string())
    return fmt::format("the text \"{}\"", shorten(value.get_ref<const std::string&>()));
  if (value.is_null()) return "nothing";
  return value.dump();
}

// The first earlier item with the same keys, or i.
std::size_t twin_of(const Json& items, std::size_t i, const std::vector<std::string>& keys) {
  const auto same = [&](const Json& other) {
    return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
      return other.is_object() && items[i].is_object() && other.contains(key) &&
             items[i].contains(key) && other[key] == items[i][key];
    });
  };
  std::size_t at = 0;
  while (at < i && !same(items[at])) ++at;
  return at;
}

// Unicode characters, because the server counts a string's length in them.
std::int64_t characters(std::string_view text) {
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}

bool is_within(const Json& number, const Field& field) {
  if (!number.is_number_integer()) return false;
  if (number.is_number_unsigned() && number.get<std::uint64_t>() > INT64_MAX) return false;
  return number.get<std::int64_t>() >= field.min && number.get<std::int64_t>() <= field.max;
}

std::string_view entries_of(const Field& field) {
  return field.type == FieldType::kMap ? "entries" : "items";
}

// Users do not read more, and each one costs a search for its line and its nearest name.
constexpr std::size_t kMaxComplaints = 200;

// Checks one value; holds what all checks need.
class Checker {
 public:
  Checker(UnknownFields unknown, std::vector<Complaint>& complaints)
      : unknown_(unknown), complaints_(complaints) {}

  void check(const Json& value, const Field& field, const std::string& path) {
    if (complaints_.size() >= kMaxComplaints) return;
    switch (field.type) {
      case FieldType::kObject:
        return check_object(value, field, path);
      case FieldType::kList:
        return check_list(value, field, path);
      case FieldType::kMap:
        return check_map(value, field, path);
      case FieldType::kString:
        return check_text(value, field, path);
      case FieldType::kInteger:
        return check_integer(value, field, path);
      case FieldType::kBoolean:
        if (!value.is_boolean()) wrong_type(value, "true or false", path);
        return;
      case FieldType::kIntOrPercent:
        return check_int_or_percent(value, field, path);
      case FieldType::kDuration:
        return check_duration(value, field, path);
    }
  }

 private:
  void complain(const std::string& path, std::string message, const std::string& advice = "") {
    if (!advice.empty()) message += "; " + advice;
    complaints_.push_back({path, std::move(message)});
  }

  void wrong_type(const Json& value, std::string_view expected, const std::string& path) {
    complain(path, fmt::format("must be {}, is {}", expected, describe_value(value)));
  }

  void check_object(const Json& value, const Field& field, const std::string& path) {
    if (!value.is_object()) return wrong_type(value, "a map of fields", path);
    for (auto it = value.begin(); it != value.end(); ++it) {
      const Field* child = field.find(it.key());
      if (child != nullptr) {
        if (!it->is_null()) check(*it, *child, path + "." + child->name);
      } else if (unknown_ == UnknownFields::kReport && complaints_.size() < kMaxComplaints) {
        std::vector<std::string> known;
        for (const Field& f : field.children) known.push_back(f.name);
        complain(path + "." + it.key(), unknown_field_message(it.key(), known));
      }
    }
    for (const Field& child : field.children) {
      if (!child.required) continue;
      auto it = value.find(child.name);
      if (it == value.end() || it->is_null())
        complain(path + "." + child.name, "is required", child.advice);
    }
  }

  bool check_size(std::size_t size, const Field& field, const std::string& path) {
    auto count = static_cast<std::int64_t>(size);
    if (count < field.min)
      complain(path, fmt::format("needs at least {} {}", field.min, entries_of(field)),
               field.advice);
    if (count > field.max) complain(path, too_many_message(count, field));
    return count <= field.max;
  }

  void check_list(const Json& value, const Field& field, const std::string& path) {
    if (!value.is_array()) return wrong_type(value, "a list", path);
    if (!check_size(value.size(), field, path)) return;
    for (std::size_t i = 0; i < value.size(); ++i) {
      std::string item_path = fmt::format("{}[{}]", path, i);
      check(value[i], field.children.front(), item_path);
      if (!field.keys.empty() && twin_of(value, i, field.keys) < i) {
        complain(item_path,
                 fmt::format("has the same {} as entry [{}]; remove one of the two, or rename it",
                             join(field.keys), twin_of(value, i, field.keys)));
      }
      if (!field.set) continue;
      for (std::size_t j = 0; j < i; ++j) {
        if (value[i] == value[j]) {
          complain(item_path, fmt::format("{} is listed twice", describe_value(value[i])));
          break;
        }
      }
    }
  }

  void check_map(const Json& value, const Field& field, const std::string& path) {
    if (!value.is_object()) return wrong_type(value, "a map", path);
    if (!check_size(value.size(), field, path)) return;
    for (auto it = value.begin(); it != value.end(); ++it) {
      constexpr std::size_t kMaxKey = 317;  // a label key's prefix, slash and name
      if (it.key().size() > kMaxKey || !matches_pattern(it.key(), field.pattern)) {
        complain(path, fmt::format("\"{}\" is not allowed here", shorten(it.key())), field.advice);
      } else if (!it->is_null()) {
        check(*it, field.children.front(), path + "." + it.key());
      } else {
        wrong_type(*it, "given", path + "." + it.key());
      }
    }
  }

  void check_text(const Json& value, const Field& field, const std::string& path) {
    if (!value.is_string()) {
      wrong_type(value, "text", path);
      if (value.is_primitive()) complaints_.back().message += "; put it in quotes";
      return;
    }
    const auto& text = value.get_ref<const std::string&>();
    if (!field.one_of.empty()) {
      if (std::find(field.one_of.begin(), field.one_of.end(), text) != field.one_of.end()) return;
      std::string message =
          fmt::format("must be one of {}; is \"{}\"", join(field.one_of), shorten(text));
      std::string near = nearest_name(text, field.one_of);
      return complain(path, message, near.empty() ? "" : fmt::format("did you mean {}?", near));
    }
    if (characters(text) < field.min) return complain(path, "must not be empty", field.advice);
    if (characters(text) > field.max) {
      return complain(path, fmt::format("has {} characters, at most {} are allowed",
                                        characters(text), field.max));
    }
    if (!field.pattern.empty() && !matches_pattern(text, field.pattern)) {
      complain(path, fmt::format("\"{}\" is not allowed here", shorten(text)), field.advice);
    }
    if (field.base64 && !decode_base64(text)) complain(path, "is not base64", field.advice);
  }

  void check_integer(const Json& value, const Field& field, const std::string& path) {
    // YAML reads a whole number beyond 64 bits as a float.
    bool whole =
        value.is_number_integer() ||
        (value.is_number_float() && std::trunc(value.get<double>()) == value.get<double>());
    if (!whole) return wrong_type(value, "a whole number", path);
    if (is_within(value, field)) return;
    complain(path, fmt::format("must be from {} to {}, is {}", field.min, field.max, value.dump()),
             field.advice);
  }

  void check_int_or_percent(const Json& value, const Field& field, const std::string& path) {
    bool good = false;
    if (value.is_string()) {
      auto parsed = IntOrPercent::parse(value.get_ref<const std::string&>());
      good = parsed.has_value() && parsed->percent && parsed->value > 0 &&
             parsed->str() == value.get_ref<const std::string&>();  // no "+5%", no "007%"
    } else if (value.is_number_integer()) {
      good = is_within(value, field);
    } else {
      return wrong_type(value, "a number or a percentage", path);
    }
    if (!good)
      complain(path, fmt::format("{} is not allowed here", describe_value(value)), field.advice);
  }

  void check_duration(const Json& value, const Field& field, const std::string& path) {
    if (!value.is_string()) {
      wrong_type(value, "a duration", path);
      complaints_.back().message += "; " + field.advice;
      return;
    }
    Result<Duration> duration = parse_duration(value.get_ref<const std::string&>());
    if (!duration) return complain(path, duration.error().message);
    if (*duration < std::chrono::seconds(field.min) ||
        *duration > std::chrono::seconds(field.max)) {
      complain(path, fmt::format("must be from {} to {}, is {}",
                                 format_duration_short(std::chrono::seconds(field.min)),
                                 format_duration_short(std::chrono::seconds(field.max)),
                                 format_duration_short(*duration)));
    }
  }

  UnknownFields unknown_;
  std::vector<Complaint>& complaints_;
};

}  // namespace

void check_field(const Json& value, const Field& field, const std::string& path,
                 UnknownFields unknown, std::vector<Complaint>& complaints) {
  Checker(unknown, complaints).check(value, field, path);
}

std::string too_many_message(std::int64_t count, const Field& field) {
  return fmt::format("has {} {}, at most {} are allowed", count, entries_of(field), field.max);
}

std::string unknown_field_message(std::string_view name, const std::vector<std::string>& known) {
  std::string near = nearest_name(name, known);
  if (!near.empty()) return fmt::format("unknown field; did you mean {}?", near);
  return fmt::format("unknown field; the fields here are {}", join(known));
}

bool matches_pattern(std::string_view text, const std::string& pattern) {
  static auto* compiled = new std::map<std::string, std::regex>;
  auto it = compiled->find(pattern);
  if (it == compiled->end()) it = compiled->emplace(pattern, std::regex(pattern)).first;
  return std::regex_match(text.begin(), text.end(), it->second);
}

}  // namespace berth
