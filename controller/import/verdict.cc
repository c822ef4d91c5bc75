// SPDX-License-Identifier: Apache-2.0
#include "controller/import/verdict.h"

#include <fmt/format.h>

#include "apis/codec/manifest.h"
#include "controller/fleet/geometry.h"
#include "controller/fleet/node_layout.h"
#include "controller/mig/layout_check.h"

namespace berth {
namespace {

std::string geometry_fault(const MIGLayoutSpec& spec) {
  const std::int32_t gpus = gpus_meant(spec.devices);
  if (spec.product_selector.empty() && models_that_fit(spec.devices, gpus).empty())
    return "no product that berth knows can be cut so";
  for (const std::string& name : spec.product_selector) {
    const Result<const Product*> product = require_product(name);
    if (!product) return product.error().message;
    const Result<NodeLayout> layout = resolve_layout(spec.devices, **product, gpus);
    if (!layout) return fmt::format("on {}: {}", name, layout.error().message);
  }
  return {};
}

}  // namespace

std::string first_fault(std::string_view json) {
  const Manifest manifest = parse_manifest(json, "");
  const auto first = [](const std::vector<Finding>& findings) {
    if (findings.empty()) return std::string();
    const Finding& finding = findings.front();
    return finding.field.empty() ? finding.message : finding.field + ": " + finding.message;
  };
  if (manifest.documents.size() != 1) return "is no object";
  const ManifestDocument& document = manifest.documents.front();
  if (document.kind == kKind<GPUQueue>.kind)
    return first(decode_strict_queue(document, "").findings);
  if (document.kind == kKind<GPUClusterPolicy>.kind)
    return first(decode_strict_policy(document, "").findings);
  const StrictLayout strict = decode_strict(document, "");
  return strict.findings.empty() ? geometry_fault(strict.layout.spec) : first(strict.findings);
}

}  // namespace berth
