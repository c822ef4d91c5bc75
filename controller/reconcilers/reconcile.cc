// SPDX-License-Identifier: Apache-2.0
#include "controller/reconcilers/reconcile.h"

#include <algorithm>

#include "controller/disruption/slots.h"
#include "controller/queue/record/admission_ledger.h"
#include "controller/reconcilers/key_families.h"

namespace berth {

bool is_deposed(const Snapshot& snapshot) {
  const std::int64_t newest =
      std::max(read_ledger(snapshot).epoch, queue::read_admissions(snapshot).epoch);
  return !snapshot.offline && newest > snapshot.epoch;
}

Plan reconcile(const Snapshot& snapshot, std::string_view key, StartedFamilies& started) {
  const KeyFamily& family = family_of(key);
  if (is_deposed(snapshot)) return {};
  if (family.starts == nullptr) return family.reconcile(snapshot, family.name_in(key));
  auto& reconcile_started = started[family.prefix];
  if (!reconcile_started) reconcile_started = family.starts();
  return reconcile_started(snapshot);
}

Plan reconcile(const Snapshot& snapshot, std::string_view key) {
  StartedFamilies none;
  return reconcile(snapshot, key, none);
}

}  // namespace berth
