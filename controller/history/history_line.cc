// SPDX-License-Identifier: Apache-2.0
#include "controller/history/history_line.h"

#include <fmt/format.h>

#include <array>

#include "apis/base/cut.h"
#include "apis/base/result.h"

namespace berth {
namespace {

// Foreign text must not end a field or a line.
std::string one_field(const std::string& text) {
  std::string field = cut(text, kMaxHistoryField);
  for (char& c : field)
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  return field;
}

}  // namespace

std::string cause_text(std::string_view object, std::int64_t generation) {
  return fmt::format("{} generation {}", object, generation);
}

std::string encode_line(const HistoryLine& line) {
  return fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", format_time(line.at), one_field(line.actor),
                     one_field(line.object), one_field(line.what), one_field(line.reason),
                     one_field(line.cause));
}

std::optional<HistoryLine> decode_line(std::string_view text) {
  std::array<std::string_view, 6> fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::size_t end = text.find('\t');
    if ((end == text.npos) != (i + 1 == fields.size())) return std::nullopt;
    fields[i] = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  const Result<Time> at = parse_time(fields[0]);
  if (!at) return std::nullopt;
  return HistoryLine{*at,
                     std::string(fields[1]),
                     std::string(fields[2]),
                     std::string(fields[3]),
                     std::string(fields[4]),
                     std::string(fields[5])};
}

std::string format(const HistoryLine& line) {
  const std::string_view object = line.object;
  const std::string_view subject = object.substr(object.find('/') + 1);
  // A write's reason describes the write. All other lines print `what` and the reason.
  std::string text = line.actor.empty() ? std::string() : line.actor + ": ";
  const bool write =
      line.actor == "berth" && !line.object.starts_with("Lease/") && !line.reason.empty();
  text +=
      write ? line.reason : line.what + (line.reason.empty() ? std::string() : ": " + line.reason);
  if (!line.cause.empty()) text += " (" + line.cause + ")";
  return fmt::format("{}  {:<18}  {}", format_time(line.at), subject, text);
}

}  // namespace berth
