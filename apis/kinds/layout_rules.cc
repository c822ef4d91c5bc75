// SPDX-License-Identifier: Apache-2.0
#include "apis/kinds/layout_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "apis/kinds/mig_layout.h"

namespace berth {
namespace {

void check_selectors(const MIGLayoutSpec& spec, std::vector<Error>& errors) {
  if (!spec.node_selector && spec.product_selector.empty()) {
    errors.push_back(invalid_spec("spec.nodeSelector", rules::kNoSelector));
  }
  for (std::size_t i = 0; i < spec.product_selector.size(); ++i) {
    std::string_view product = spec.product_selector[i];
    if (product.find("-MIG-") != std::string_view::npos || product.ends_with("-SHARED")) {
      errors.push_back(
          invalid_spec(fmt::format("spec.productSelector[{}]", i), rules::kProductSuffix));
    }
  }
  if (!spec.node_selector) return;
  check_labels(*spec.node_selector, changes_with_layout, rules::kOwnLabel, "spec.nodeSelector",
               errors);
  check_expressions(*spec.node_selector, "spec.nodeSelector", errors);
}

void check_devices(const std::vector<DeviceLayout>& devices, std::vector<Error>& errors) {
  std::set<std::int32_t> seen;
  bool twice = false;
  int without_gpus = 0;
  for (const DeviceLayout& device : devices) {
    if (!device.gpus) {
      ++without_gpus;
      continue;
    }
    // check_field() compares the GPUs within one entry; this compares the entries.
    std::set<std::int32_t> own(device.gpus->begin(), device.gpus->end());
    for (std::int32_t gpu : own) twice = !seen.insert(gpu).second || twice;
  }
  if (twice) errors.push_back(invalid_spec("spec.devices", rules::kGpuTwice));
  if (without_gpus > 1) errors.push_back(invalid_spec("spec.devices", rules::kTwoWithoutGpus));
}

}  // namespace

std::vector<Error> check_rules(const MIGLayout& layout) {
  std::vector<Error> errors;
  const MIGLayoutSpec& spec = layout.spec;
  if (layout.meta.name.size() > limits::kMaxLayoutName) {
    errors.push_back(invalid_spec("metadata.name", rules::kNameTooLong));
  }
  check_selectors(spec, errors);
  check_devices(spec.devices, errors);
  if (spec.drain.wait_for_completion) {
    check_expressions(spec.drain.wait_for_completion->pod_selector,
                      "spec.drain.waitForCompletion.podSelector", errors);
  }
  const CapacityGuardSpec& guard = spec.capacity_guard;
  if (std::any_of(guard.retire.begin(), guard.retire.end(), [&](const std::string& resource) {
        auto kept = guard.min_available.find(resource);
        return kept != guard.min_available.end() && kept->second > 0;
      })) {
    errors.push_back(invalid_spec("spec.capacityGuard.retire", rules::kRetiredAndKept));
  }
  return errors;
}

}  // namespace berth
