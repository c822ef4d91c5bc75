// SPDX-License-Identifier: Apache-2.0
#include "controller/import/report.h"

#include <algorithm>
#include <map>

namespace berth {
namespace {

Finding finding_of(const Source& source, std::string field, std::string message) {
  const int line = line_of(source.document, field);
  return {.file = source.file,
          .line = line,
          .field = std::move(field),
          .object = source.label,
          .message = std::move(message)};
}

}  // namespace

void ImportReport::lose(const Source& source, std::string field, std::string why) {
  lost.push_back(finding_of(source, std::move(field), "is not carried over: " + std::move(why)));
}

void ImportReport::alter(const Source& source, std::string field, std::string why) {
  lost.push_back(finding_of(source, std::move(field), "is changed: " + std::move(why)));
}

void ImportReport::ask(const Source& source, std::string field, std::string what) {
  steps.push_back(finding_of(source, std::move(field), std::move(what)));
}

void ImportReport::skip(const Source& source, std::string why) {
  skipped.push_back(finding_of(source, "", std::move(why)));
}

void ImportReport::refuse(const Source& source, std::string field, std::string why) {
  wrong.push_back(finding_of(source, std::move(field), std::move(why)));
}

void ImportReport::sort(const Sources& sources) {
  std::map<std::string_view, std::size_t> places;
  for (const Source& source : sources) places.emplace(source.file, places.size());
  const auto place = [&](const Finding& finding) {
    return std::pair(places[finding.file], finding.line);
  };
  for (std::vector<Finding>* list : {&lost, &steps, &skipped, &wrong})
    std::ranges::stable_sort(*list, {}, place);
}

}  // namespace berth
