// SPDX-License-Identifier: Apache-2.0
// HealthClaims: the nodes that are about to be cordoned for their health, in annotation
// gpu.berth.dev/health-claims of the slot ledger. Its writes carry the ledger's resourceVersion, as
// each claim of a slot does. So if a claim of a slot and a health claim would both take the last
// place of a pool, one is refused, planned again, and then counts the other. Once the cache shows
// the cordon, the node counts by itself, so a claim ends after a while.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "controller/core/plan.h"
#include "controller/core/snapshot.h"
#include "controller/disruption/slots.h"

namespace berth {

namespace names {
inline constexpr char kHealthClaimsAnnotation[] = "gpu.berth.dev/health-claims";
}  // namespace names

// An annotation holds 256 KiB. More claims within two minutes would mean the loss of the fleet.
// Further nodes count once the cache shows their cordons.
inline constexpr std::size_t kMostHealthClaims = 500;

class HealthClaims {
 public:
  // Reads the claims that still count.
  HealthClaims(const SlotLedger& ledger, Time now);
  bool contains(std::string_view node) const { return claims_.contains(node); }
  std::size_t size() const { return claims_.size(); }
  void add(std::string node, Time now) { claims_.insert_or_assign(std::move(node), now); }

  // Patches an existing ledger.
  Write write(const Snapshot& snapshot, const SlotLedger& ledger) const;

 private:
  std::map<std::string, Time, std::less<>> claims_;  // since when
};

}  // namespace berth
