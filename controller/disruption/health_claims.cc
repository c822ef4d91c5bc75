// SPDX-License-Identifier: Apache-2.0
#include "controller/disruption/health_claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "apis/base/names.h"
#include "apis/base/time.h"
#include "controller/core/merge_patch.h"

namespace berth {
namespace {

// As long as a sent write may take effect, and some time for the cache to show it.
constexpr Duration kCounts = 2 * kRequestTimeout;

}  // namespace

// "n1=2026-11-25T12:00:00Z,n2=…": a node's name contains neither '=' nor ','.
HealthClaims::HealthClaims(const SlotLedger& ledger, Time now) {
  if (ledger.config_map == nullptr) return;
  const Text* text = ledger.config_map->meta.annotations.find(names::kHealthClaimsAnnotation);
  std::string_view rest = text == nullptr ? std::string_view() : text->view();
  while (!rest.empty() && claims_.size() < kMostHealthClaims) {
    const std::string_view claim = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(claim.size() + 1, rest.size()));
    const std::size_t equals = claim.find('=');
    if (equals == claim.npos) continue;
    const Result<Time> since = parse_time(claim.substr(equals + 1));
    if (since && now - *since < kCounts) claims_.emplace(claim.substr(0, equals), *since);
  }
}

Write HealthClaims::write(const Snapshot& snapshot, const SlotLedger& ledger) const {
  std::string text;
  for (const auto& [node, since] : claims_ | std::views::take(kMostHealthClaims))
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", node, format_time(since));
  return {.verb = Verb::kMergePatch,
          .object = ledger_ref(snapshot.settings, ledger.config_map),
          .body = MergePatch::same_version(ledger.config_map->meta)
                      .annotation(names::kHealthClaimsAnnotation, text)
                      .str(),
          .field_manager = names::kManagerPolicy,
          .reason = "claim nodes that are cordoned for their health"};
}

}  // namespace berth
