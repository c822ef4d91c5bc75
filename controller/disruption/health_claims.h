// SPDX-License-Identifier: Apache-2.0
// HealthClaims: the nodes that are about to be cordoned for their health, in annotation
// gpu.berth.dev/health-claims of the ledger of slots. What is written there carries the ledger's
// resourceVersion, as each claim of a slot does: of a claim and a cordon that would both take the
// last place of a pool, one is refused and planned anew, and then counts the other. Once the cordon
// is seen it counts by itself; so a claim is forgotten after a while.
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

// An annotation holds 256 KiB. More in two minutes are a fleet's end; those beyond count once their
// cordons are seen.
inline constexpr std::size_t kMostHealthClaims = 500;

class HealthClaims {
 public:
  // Those that still count.
  HealthClaims(const SlotLedger& ledger, Time now);
  bool contains(std::string_view node) const { return claims_.contains(node); }
  std::size_t size() const { return claims_.size(); }
  void add(std::string node, Time now) { claims_.insert_or_assign(std::move(node), now); }

  // What adds to a ledger that is there.
  Write write(const Snapshot& snapshot, const SlotLedger& ledger) const;

 private:
  std::map<std::string, Time, std::less<>> claims_;  // since when
};

}  // namespace berth
