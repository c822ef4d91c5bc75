// SPDX-License-Identifier: Apache-2.0
#include "apis/kinds/core.h"

#include <algorithm>

namespace berth {
namespace {

bool tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (toleration.op == "Exists") return toleration.key.empty() || toleration.key == taint.key;
  if (!toleration.op.empty() && toleration.op != "Equal") return false;
  return toleration.key == taint.key && toleration.value == taint.value;
}

}  // namespace

bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint) {
  return std::any_of(tolerations.begin(), tolerations.end(),
                     [&](const Toleration& t) { return tolerates(t, taint); });
}

bool uses_gpu(const Pod& pod) { return pod.shape->asks_for_gpus() || pod.shape->claims_devices(); }

bool PodDisruptionBudget::selects(const Pod& pod) const {
  return selector.has_value() && meta.namespace_ == pod.meta.namespace_ &&
         selector->matches(pod.meta.labels);
}

}  // namespace berth
