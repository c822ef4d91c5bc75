// SPDX-License-Identifier: Apache-2.0
#include "tests/truth/tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "tests/truth/kinds.h"

namespace berth::truth {
namespace {

bool is_tried(Verb verb, const Kind& kind) { return verb != Verb::kEvict || kind.plural == "pods"; }

template <typename Visit>
void for_each_pair(Visit visit) {
  for (const Kind& kind : kinds())
    for (std::size_t i = 0; i < kVerbNames.size(); ++i)
      if (is_tried(static_cast<Verb>(i), kind)) visit(static_cast<Verb>(i), kind);
}

}  // namespace

void Tally::add(const Script& script, const std::vector<Exchange>& exchanges) {
  for (std::size_t i = 0; i < exchanges.size(); ++i) {
    const Operation& operation = script.operations[i];
    ++counts_[{operation.verb, operation.plural}];
    ++codes_[operation.verb][exchanges[i].answer.code];
    if (operation.dry_run) ++dry_runs_[operation.plural];
  }
}

int Tally::count(Verb verb, std::string_view plural) const {
  const auto found = counts_.find({verb, std::string(plural)});
  return found == counts_.end() ? 0 : found->second;
}

std::string Tally::table() const {
  std::string out = fmt::format("{:<22}", "");
  for (const std::string_view verb : kVerbNames) out += fmt::format("{:>14}", verb);
  out += fmt::format("{:>14}\n", "dry runs");
  for (const Kind& kind : kinds()) {
    out += fmt::format("{:<22}", kind.plural);
    for (std::size_t i = 0; i < kVerbNames.size(); ++i) {
      const Verb verb = static_cast<Verb>(i);
      out += is_tried(verb, kind) ? fmt::format("{:>14}", count(verb, kind.plural))
                                  : fmt::format("{:>14}", "-");
    }
    const auto dry = dry_runs_.find(std::string(kind.plural));
    out += fmt::format("{:>14}\n", dry == dry_runs_.end() ? 0 : dry->second);
  }
  return out;
}

std::string Tally::codes() const {
  std::string out;
  for (const auto& [verb, codes] : codes_) {
    out += fmt::format("{:<14}", to_string(verb));
    for (const auto& [code, times] : codes) out += fmt::format("  {} × {}", code, times);
    out += '\n';
  }
  return out;
}

int Tally::smallest() const {
  int out = std::numeric_limits<int>::max();
  for_each_pair(
      [&](Verb verb, const Kind& kind) { out = std::min(out, count(verb, kind.plural)); });
  return out;
}

std::string Tally::shortfalls(int least) const {
  std::string out;
  for_each_pair([&](Verb verb, const Kind& kind) {
    const int wanted = kind.rare ? least / 8 : least;
    if (const int tries = count(verb, kind.plural); tries < wanted)
      out += fmt::format("TOO SELDOM: {} {}, {} times of {}\n", to_string(verb), kind.plural, tries,
                         wanted);
  });
  return out;
}

}  // namespace berth::truth
