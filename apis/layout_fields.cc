// SPDX-License-Identifier: Apache-2.0
#include "apis/layout_fields.h"

#include "apis/mig_layout.h"

namespace berth {
namespace {

// Kubernetes' own grammars, and NVIDIA's for profiles without compute instances.
constexpr char kLabelKey[] =
    "^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$";
constexpr char kLabelValue[] = "^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$";
constexpr char kProduct[] = "^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$";
constexpr char kResource[] = "^nvidia\\.com/(gpu(\\.shared)?|mig-[0-9][a-z0-9.-]*)$";
constexpr char kProfile[] =
    "^[1-9][0-9]?g\\.[1-9][0-9]{0,3}gb"
    "([+][a-z][a-z0-9]*(\\.[a-z0-9]+)*(,[a-z][a-z0-9]*(\\.[a-z0-9]+)*)*|-[a-z][a-z0-9]*)?$";
constexpr char kDuration[] = "^([0-9]+(\\.[0-9]+)?(h|m|s|ms))+$";

constexpr char kLabelKeyAdvice[] = "write a label key, as node.example.com/tier";
constexpr char kLabelValueAdvice[] =
    "write a label value: letters, digits, '-', '_' and '.', starting and ending with a letter or "
    "digit";
constexpr char kResourceAdvice[] =
    "write a resource of NVIDIA's device plugin, as nvidia.com/gpu or nvidia.com/mig-1g.10gb";

Field object(std::string name, std::vector<Field> children) {
  return Field{
      .name = std::move(name), .type = FieldType::kObject, .children = std::move(children)};
}

Field list(std::string name, std::int64_t min, std::int64_t max, Field item) {
  return Field{.name = std::move(name),
               .type = FieldType::kList,
               .min = min,
               .max = max,
               .children = {std::move(item)}};
}

Field set_of(Field field) {
  field.set = true;
  return field;
}

Field map(std::string name, std::int64_t max, std::string key_pattern, std::string advice,
          Field value) {
  return Field{.name = std::move(name),
               .type = FieldType::kMap,
               .max = max,
               .pattern = std::move(key_pattern),
               .advice = std::move(advice),
               .children = {std::move(value)}};
}

Field text(std::string name, std::int64_t min, std::int64_t max, std::string pattern,
           std::string advice) {
  return Field{.name = std::move(name),
               .type = FieldType::kString,
               .min = min,
               .max = max,
               .pattern = std::move(pattern),
               .advice = std::move(advice)};
}

Field one_of(std::string name, std::vector<std::string> values) {
  return Field{.name = std::move(name), .type = FieldType::kString, .one_of = std::move(values)};
}

Field integer(std::string name, std::int64_t min, std::int64_t max, std::string advice = "") {
  return Field{.name = std::move(name),
               .type = FieldType::kInteger,
               .min = min,
               .max = max,
               .advice = std::move(advice)};
}

Field boolean(std::string name) {
  return Field{.name = std::move(name), .type = FieldType::kBoolean};
}

// In seconds.
Field duration(std::string name) {
  return Field{.name = std::move(name),
               .type = FieldType::kDuration,
               .min = 1,
               .max = limits::kMaxTimeoutHours * 3600,
               .pattern = kDuration,
               .advice = "write it in h, m, s and ms, as 90s, 20m or 1h30m"};
}

Field required(Field field) {
  field.required = true;
  return field;
}

Field with_default(Field field, std::string json) {
  field.default_json = std::move(json);
  return field;
}

Field label_selector(std::string name) {
  return object(
      std::move(name),
      {map("matchLabels", limits::kMaxSelectorTerms, kLabelKey, kLabelKeyAdvice,
           text("", 0, 63, kLabelValue, kLabelValueAdvice)),
       list("matchExpressions", 0, limits::kMaxSelectorTerms,
            object("", {required(text("key", 1, 317, kLabelKey, kLabelKeyAdvice)),
                        required(one_of("operator", {"In", "NotIn", "Exists", "DoesNotExist"})),
                        list("values", 0, limits::kMaxSelectorValues,
                             text("", 0, 63, kLabelValue, kLabelValueAdvice))}))});
}

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
  Field max_unavailable{
      .name = "maxUnavailable",
      .type = FieldType::kIntOrPercent,
      .min = 1,
      .max = limits::kMaxNodeBudget,
      .advice =
          "write a number from 1, or a percentage from \"1%\" to \"100%\"; to stop the "
          "rollout, set paused: true"};
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

const Field* Field::find(std::string_view child) const {
  for (const Field& field : children) {
    if (field.name == child) return &field;
  }
  return nullptr;
}

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
