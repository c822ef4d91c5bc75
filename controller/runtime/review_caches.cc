// SPDX-License-Identifier: Apache-2.0
#include "controller/runtime/review_caches.h"

#include <utility>

#include "apis/kinds/core.h"
#include "apis/kinds/gpu_cluster_policy.h"
#include "apis/kinds/gpu_queue.h"
#include "apis/kinds/mig_layout.h"
#include "controller/core/seeded_bugs.h"

namespace berth {

ReviewCaches::ReviewCaches(ApiClient& client, Log& log, InformerObserver& observer,
                           std::function<void()> on_synced,
                           std::function<void(std::string why)> on_fatal, std::uint64_t seed)
    : caches_(client, log, observer,
              Caches::Hooks{.on_cached = nullptr,
                            .on_synced =
                                [this, &log, on_synced = std::move(on_synced)] {
                                  synced_ = true;
                                  log.info("caches are synced");
                                  if (on_synced) on_synced();
                                },
                            .on_fatal = std::move(on_fatal)},
              seed) {
  caches_.add<Node>("nodes", {}, nullptr, false);
  caches_.add<Namespace>("namespaces", {}, nullptr, false);
  caches_.add<PriorityClass>("priorityclasses", {}, nullptr, false);
  caches_.add<MIGLayout>("miglayouts", {}, nullptr, true);
  caches_.add<GPUClusterPolicy>("gpuclusterpolicies", {}, nullptr, true);
  caches_.add<GPUQueue>("gpuqueues", {}, nullptr, true);
}

bool ReviewCaches::may_answer() const { return synced_ || seeded(SeededBug::kGuessUnsynced); }

}  // namespace berth
