// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/commands/validate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "controller/cmd/input/manifest_files.h"
#include "controller/cmd/line/console.h"
#include "controller/core/plural.h"
#include "controller/fleet/geometry.h"
#include "controller/fleet/node_layout.h"
#include "controller/mig/layout_check.h"
#include "controller/mig/layout_list.h"

namespace berth {
namespace {

int fail(const Error& error) { return complain("berth validate", error); }

// A GPU by any of its usual names.
Result<const Product*> find_by_any_name(const std::string& name) {
  if (const Product* product = find_product_by_model(name)) return product;
  return require_product(name);
}

// Checks one layout's geometry: valid parts go to `notes`, invalid ones become findings.
class GeometryCheck {
 public:
  GeometryCheck(const LayoutInFile& source, std::optional<std::int32_t> gpus,
                std::optional<MigStrategy> strategy, std::vector<Finding>& findings)
      : source_(source),
        devices_(source.layout.spec.devices),
        gpus_(gpus.value_or(gpus_meant(devices_))),
        strategy_(strategy),
        findings_(findings) {}

  void on_product(const std::string& field, const std::string& name) {
    Result<const Product*> product = find_by_any_name(name);
    if (!product) return add(field, product.error().message);
    const std::size_t before = findings_.size();
    Result<NodeLayout> layout = resolve_layout(devices_, **product, gpus_);
    if (!layout) {
      add(layout.error().where, fmt::format("on {}: {}", name, layout.error().message));
    } else if (strategy_) {
      Result<void> shown = check_strategy(*layout, *strategy_);
      if (!shown) add("spec.devices", shown.error().message);
    }
    if (findings_.size() == before)
      fits_ += fmt::format("{}{} × {}", fits_.empty() ? "" : ", ", gpus_, name);
  }

  // No product is given: the layout must fit at least one known product.
  void on_some_product() {
    fits_ = fmt::format("{}", fmt::join(models_that_fit(devices_, gpus_), ", "));
    if (fits_.empty())
      add("spec.devices",
          "no product that berth knows can hold this layout; name the product in "
          "spec.productSelector or --product to learn why, or see --list-layouts PRODUCT");
  }

  const std::string& fits() const { return fits_; }

 private:
  void add(const std::string& field, std::string message) {
    findings_.push_back({.file = source_.file,
                         .line = line_of(source_.document, field),
                         .field = field,
                         .object = "MIGLayout/" + source_.layout.meta.name,
                         .message = std::move(message)});
  }

  const LayoutInFile& source_;
  const std::vector<DeviceLayout>& devices_;
  const std::int32_t gpus_;
  const std::optional<MigStrategy> strategy_;
  std::vector<Finding>& findings_;
  std::string fits_;
};

// The products that the layout fits; empty if there is a finding.
std::string check_geometry(const LayoutInFile& source, const ValidateFlags& flags,
                           std::optional<std::int32_t> gpus, std::optional<MigStrategy> strategy,
                           std::vector<Finding>& findings) {
  GeometryCheck check(source, gpus, strategy, findings);
  const std::vector<std::string>& selector = source.layout.spec.product_selector;
  if (!flags.product.empty()) check.on_product("spec.productSelector", flags.product);
  for (std::size_t i = 0; flags.product.empty() && i < selector.size(); ++i)
    check.on_product(fmt::format("spec.productSelector[{}]", i), selector[i]);
  if (flags.product.empty() && selector.empty()) check.on_some_product();
  return check.fits();
}

// Only a cluster shows whether nodes and resources are as the policy expects.
std::string summarise(const GPUClusterPolicy& policy) {
  const GPUClusterPolicySpec& spec = policy.spec;
  const std::size_t entries = spec.resource_catalog.size(), classes = spec.priority_classes.size();
  return fmt::format("GPUClusterPolicy/{}: is valid: {}, {} catalog {}, {} priority {}",
                     policy.meta.name, plural(static_cast<std::int64_t>(spec.pools.size()), "pool"),
                     entries, entries == 1 ? "entry" : "entries", classes,
                     classes == 1 ? "class" : "classes");
}

std::string summarise(const GPUQueue& queue) {
  return fmt::format("GPUQueue/{}: is valid: {}", queue.meta.name,
                     plural(static_cast<std::int64_t>(queue.spec.quotas.size()), "quota"));
}

// An object with a finding gets no positive note.
bool is_at_fault(const ManifestDocument& document, const std::vector<Finding>& findings) {
  const std::string object = document.kind + "/" + document.name;
  return std::ranges::any_of(findings, [&](const Finding& f) { return f.object == object; });
}

Result<std::optional<std::int32_t>> read_gpus(const std::string& text) {
  if (text.empty()) return std::optional<std::int32_t>();
  std::int32_t gpus = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gpus);
  if (error != std::errc() || end != text.data() + text.size() || gpus < 1 ||
      gpus > limits::kMaxGpuIndex + 1)
    return invalid_spec("--gpus", fmt::format("\"{}\" is not a number from 1 to {}", text,
                                              limits::kMaxGpuIndex + 1));
  return std::optional<std::int32_t>(gpus);
}

int list_layouts_of(const std::string& product) {
  Result<std::string> pages = list_layouts(product);
  if (!pages) return fail(pages.error());
  put(*pages);
  return 0;
}

}  // namespace

FlagTable validate_flags(ValidateFlags& flags) {
  Flag gpus = text_flag("--gpus", flags.gpus, "GPUs on a node; else as many as the layout names");
  gpus.value = "NUMBER";
  Flag strategy = choice_flag("--mig-strategy", flags.mig_strategy, {"single", "mixed"},
                              "what the device plugin advertises; else not checked");
  return {
      manifest_flag(flags.files, "manifest to be checked"),
      text_flag("--product", flags.product,
                "hardware to check against, as in nvidia.com/gpu.product or by model (A100-80GB), "
                "instead of spec.productSelector"),
      std::move(gpus),
      std::move(strategy),
      text_flag("--list-layouts", flags.list_layouts,
                "print every layout that this product can hold, and exit"),
  };
}

int run_validate(const ValidateFlags& flags) {
  if (!flags.list_layouts.empty()) return list_layouts_of(flags.list_layouts);
  if (flags.files.empty()) return fail(invalid_spec("-f", "name at least one file to check"));
  Result<std::optional<std::int32_t>> gpus = read_gpus(flags.gpus);
  if (!gpus) return fail(gpus.error());
  const std::optional<MigStrategy> strategy = parse_mig_strategy(flags.mig_strategy);
  Result<ManifestFiles> files = read_manifests(flags.files);
  if (!files) return fail(files.error());

  std::vector<Finding> findings = files->findings;
  for (const LayoutInFile& source : files->layouts) {
    const std::string fits = check_geometry(source, flags, *gpus, strategy, findings);
    if (!fits.empty() && !is_at_fault(source.document, findings))
      put_line(fmt::format("{}:{}: MIGLayout/{}: fits {}", source.file, source.document.line,
                           source.layout.meta.name, fits));
  }
  for (const PolicyInFile& source : files->policies)
    if (!is_at_fault(source.document, findings))
      put_line(
          fmt::format("{}:{}: {}", source.file, source.document.line, summarise(source.policy)));
  for (const QueueInFile& source : files->queues)
    if (!is_at_fault(source.document, findings))
      put_line(
          fmt::format("{}:{}: {}", source.file, source.document.line, summarise(source.queue)));
  for (const Finding& note : files->skipped) put_line(format(note));
  for (const Finding& finding : findings) put_line(format(finding));
  return findings.empty() ? 0 : 1;
}

}  // namespace berth
