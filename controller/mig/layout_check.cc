// SPDX-License-Identifier: Apache-2.0
#include "controller/mig/layout_check.h"

#include <algorithm>

#include "controller/fleet/geometry.h"
#include "controller/fleet/node_layout.h"

namespace berth {

std::int32_t gpus_meant(const std::vector<DeviceLayout>& devices) {
  std::int32_t highest = -1;
  bool others = false;
  for (const DeviceLayout& device : devices) {
    if (!device.gpus) {
      others = true;
      continue;
    }
    for (std::int32_t gpu : *device.gpus) highest = std::max(highest, gpu);
  }
  return highest + 1 + (others ? 1 : 0);
}

std::vector<std::string> models_that_fit(const std::vector<DeviceLayout>& devices,
                                         std::int32_t gpus) {
  std::vector<std::string> models;
  for (const Product& product : all_products())
    if (resolve_layout(devices, product, gpus)) models.push_back(product.model);
  return models;
}

}  // namespace berth
