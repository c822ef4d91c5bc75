// SPDX-License-Identifier: Apache-2.0
#include "controller/reconcilers/reconcile.h"

#include "controller/disruption/slots.h"
#include "controller/reconcilers/key_families.h"

namespace berth {

Plan reconcile(const Snapshot& snapshot, std::string_view key) {
  const KeyFamily& family = family_of(key);
  // The lease does not fence; the epoch does, as soon as the cache has it.
  if (!snapshot.offline && read_ledger(snapshot).epoch > snapshot.epoch) return {};
  return family.reconcile(snapshot, family.name_in(key));
}

}  // namespace berth
