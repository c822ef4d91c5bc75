// SPDX-License-Identifier: Apache-2.0
#include "apis/kinds/layout_fields.h"

#include "apis/kinds/field_shapes.h"
#include "apis/kinds/mig_layout.h"

namespace berth {
namespace {

using namespace shape;

// NVIDIA's names of products, and of profiles without compute instances.
constexpr char kProduct[] = "^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$";
constexpr char kProfile[] =
    "^[1-9][0-9]?g\\.[1-9][0-9]{0,3}gb"
    "([+][a-z][a-z0-9]*(\\.[a-z0-9]+)*(,[a-z][a-z0-9]*(\\.[a-z0-9]+)*)*|-[a-z][a-z0-9]*)?$";

Field devices() {
  Field gpus = set_of(
      list("gpus", 1, limits::kMaxGpusPerEntry,
           integer("", 0, limits::kMaxGpuIndex, "GPUs are counted from 0 in PCI bus order")));
  gpus.advice = "leave gpus out to mean every GPU that no other entry names";
  Field profiles = required(map(
      "profiles", limits::kMaxProfiles, kProfile,
      "write a profile as NVIDIA does: 3g.40gb, 1g.10gb+me; compute instances (1c.3g.40gb) are not "
      "cut",
      integer("", 1, limits::kMaxProfileCount, "leave the line out to have none of this profile")));
  return required(list("devices", 1, limits::kMaxDevices, object("", {gpus, profiles})));
}

Field rollout() {
  Field max_unavailable = int_or_percent(
      "maxUnavailable",
      "write a number from 1, or a percentage from \"1%\" to \"100%\"; to stop the rollout, set "
      "paused: true");
  return with_default(
      object("rollout",
             {with_default(max_unavailable, "1"),
              with_default(one_of("order", {"LeastDisruption", "Name"}), "\"LeastDisruption\""),
              with_default(integer("initialBatch", 0, limits::kMaxNodeBudget), "1"),
              with_default(one_of("failurePolicy", {"Halt", "Rollback"}), "\"Halt\""),
              with_default(integer("maxFailures", 1, limits::kMaxNodeBudget), "1"),
              with_default(duration("progressDeadline"), "\"30m\""),
              with_default(boolean("paused"), "false")}),
      "{}");
}

Field drain() {
  return with_default(
      object("drain",
             {with_default(one_of("scope", {"GPUPods", "AllPods"}), "\"GPUPods\""),
              with_default(duration("timeout"), "\"20m\""),
              with_default(one_of("onTimeout", {"Abort", "Force"}), "\"Abort\""),
              integer("gracePeriodSeconds", 0, 86400, "leave it out to keep each pod's own"),
              with_default(boolean("force"), "false"),
              with_default(boolean("deleteEmptyDirData"), "true"),
              object("waitForCompletion", {required(label_selector("podSelector")),
                                           with_default(duration("timeout"), "\"4h\"")})}),
      "{}");
}

Field capacity_guard() {
  return with_default(
      object("capacityGuard",
             {map("minAvailable", limits::kMaxResources, kResource, kResourceAdvice,
                  integer("", 0, 1'000'000, "write how many must stay, as a whole number")),
              with_default(boolean("protectLastProvider"), "true"),
              set_of(list("retire", 0, limits::kMaxResources,
                          text("", 1, 63, kResource, kResourceAdvice)))}),
      "{}");
}

}  // namespace

const Field& layout_spec_field() {
  static const Field field = required(object(
      "spec",
      {label_selector("nodeSelector"),
       set_of(
           list("productSelector", 0, limits::kMaxProducts,
                text("", 1, 63, kProduct,
                     "write the value of label nvidia.com/gpu.product, as NVIDIA-A100-SXM4-80GB"))),
       with_default(integer("priority", -1'000'000'000, 1'000'000'000), "0"), devices(), rollout(),
       drain(), capacity_guard(),
       with_default(one_of("deletionPolicy", {"Retain", "DisableMIG"}), "\"Retain\"")}));
  return field;
}

}  // namespace berth
