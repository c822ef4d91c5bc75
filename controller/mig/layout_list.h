// SPDX-License-Identifier: Apache-2.0
// LayoutList: the output of `berth validate --list-layouts PRODUCT`.
#pragma once

#include <string>
#include <string_view>

#include "apis/base/result.h"
#include "controller/fleet/geometry.h"

namespace berth {

// Lists a product's profiles with their resource names, and every maximal layout.
std::string list_layouts(const Product& product);

// Does the same for what a user typed: a value of nvidia.com/gpu.product, a model name, or a PCI
// device id (0x20b2). The error lists the products.
Result<std::string> list_layouts(std::string_view product);

// Lists known products: model, profiles, labels.
std::string list_products();

}  // namespace berth
