// SPDX-License-Identifier: Apache-2.0
// FlagKinds: how a text becomes a field's value, and a value a text.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "controller/cmd/line/flags.h"

namespace berth {
namespace {

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string all;
  for (const std::string& word : words) all += (all.empty() ? "" : between) + word;
  return all;
}

template <class Number>
Flag parsed_flag(std::string name, Number& field, std::string help, const char* expected) {
  const std::string shown = name;
  return {.name = std::move(name),
          .help = std::move(help),
          .set = [&field, shown, expected](const std::string& text) -> Result<void> {
            const char* const end = text.data() + text.size();
            Number number{};
            const auto [stop, failed] = std::from_chars(text.data(), end, number);
            if (failed != std::errc() || stop != end)
              return invalid_spec(shown, "\"" + text + "\" is not " + expected);
            field = number;
            return {};
          },
          .show = [&field] { return fmt::format("{}", field); },
          .value = "NUMBER"};
}

}  // namespace

Flag text_flag(std::string name, std::string& field, std::string help) {
  return {.name = std::move(name),
          .help = std::move(help),
          .set = [&field](const std::string& text) -> Result<void> {
            field = text;
            return {};
          },
          .show = [&field] { return field; }};
}

Flag file_flag(std::string name, std::string& field, std::string help) {
  Flag flag = text_flag(std::move(name), field, std::move(help));
  flag.value = "FILE";
  return flag;
}

Flag switch_flag(std::string name, bool& field, std::string help) {
  const std::string shown = name;
  return {.name = std::move(name),
          .help = std::move(help),
          .kind = Flag::Kind::kSwitch,
          .set = [&field, shown](const std::string& text) -> Result<void> {
            if (text != "true" && text != "false")
              return invalid_spec(shown, "must be true or false, not \"" + text + "\"");
            field = text == "true";
            return {};
          },
          .show = [&field] { return std::string(field ? "true" : "false"); }};
}

Flag duration_flag(std::string name, Duration& field, std::string help) {
  const std::string shown = name;
  return {.name = std::move(name),
          .help = std::move(help),
          .set = [&field, shown](const std::string& text) -> Result<void> {
            const Result<Duration> duration = parse_duration(text);
            if (!duration.has_value()) return invalid_spec(shown, duration.error().message);
            field = *duration;
            return {};
          },
          .show = [&field] { return format_duration(field); },
          .value = "DURATION"};
}

Flag number_flag(std::string name, double& field, std::string help) {
  return parsed_flag(std::move(name), field, std::move(help), "a number");
}

Flag count_flag(std::string name, int& field, std::string help) {
  return parsed_flag(std::move(name), field, std::move(help), "a whole number");
}

Flag list_flag(std::string name, std::vector<std::string>& field, std::string help) {
  return {.name = std::move(name),
          .help = std::move(help),
          .kind = Flag::Kind::kList,
          .set = [&field](const std::string& text) -> Result<void> {
            field.push_back(text);
            return {};
          },
          .show = [&field] { return joined(field, ","); }};
}

Flag words_flag(std::string name, std::vector<std::string>& field, std::string help) {
  Flag flag = list_flag(std::move(name), field, std::move(help));
  flag.kind = Flag::Kind::kWords;
  flag.show = [] { return std::string(); };
  return flag;
}

Result<void> one_of(const std::string& flag, const std::string& text,
                    const std::vector<std::string>& words) {
  if (std::ranges::find(words, text) != words.end()) return {};
  return invalid_spec(flag, "must be one of " + joined(words, "|") + ", not \"" + text + "\"");
}

Flag keys_flag(std::string name, KeyList& field, std::string help) {
  return {.name = std::move(name),
          .help = std::move(help),
          .set = [&field](const std::string& text) -> Result<void> {
            field = read_key_list(text);
            return {};
          },
          .show = [&field] { return field.str(); }};
}

Flag choice_flag(std::string name, std::string& field, std::vector<std::string> words,
                 std::string help) {
  Flag flag = text_flag(name, field, std::move(help));
  flag.value = joined(words, "|");
  flag.set = [&field, name, words](const std::string& text) -> Result<void> {
    if (Result<void> known = one_of(name, text, words); !known.has_value()) return known;
    field = text;
    return {};
  };
  return flag;
}

FlagTable in_group(const std::string& heading, FlagTable table) {
  for (Flag& flag : table) flag.group = heading;
  return table;
}

std::string print_config(const FlagTable& table) {
  std::string text;
  for (const Flag& flag : table)
    if (flag.name != "--print-config") text += flag.name + "=" + flag.show() + "\n";
  return text;
}

}  // namespace berth
