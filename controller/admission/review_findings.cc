// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/review_findings.h"

#include <fmt/format.h>

namespace berth {
namespace {

constexpr std::size_t kMaxWarning = 256;
constexpr std::size_t kMaxField = 256, kMaxMessage = 1024;

std::string describe(const ReviewFinding& finding) {
  return finding.field.empty() ? finding.message
                               : fmt::format("{}: {}", finding.field, finding.message);
}

}  // namespace

void ReviewFindings::add(List& to, std::string field, std::string message) {
  if (to.list.size() < kMost)
    to.list.push_back(
        {.field = field.size() > kMaxField ? cut(field, kMaxField) : std::move(field),
         .message = message.size() > kMaxMessage ? cut(message, kMaxMessage) : std::move(message)});
  else
    ++to.more;
}

void ReviewFindings::refuse(std::string field, std::string message) {
  add(mode_ == Mode::kEnforce ? refusals_ : warnings_, std::move(field), std::move(message));
}

void ReviewFindings::warn(std::string field, std::string message) {
  add(warnings_, std::move(field), std::move(message));
}

std::string ReviewFindings::denial() const {
  std::string text;
  for (const ReviewFinding& finding : refusals_.list)
    text += (text.empty() ? "" : "; ") + describe(finding);
  if (refusals_.more > 0) text += fmt::format("; and {} more", refusals_.more);
  return text;
}

std::vector<std::string> ReviewFindings::warnings() const {
  std::vector<std::string> texts;
  for (const ReviewFinding& finding : warnings_.list)
    texts.push_back(cut(describe(finding), kMaxWarning));
  if (warnings_.more > 0) texts.push_back(fmt::format("and {} more", warnings_.more));
  return texts;
}

}  // namespace berth
