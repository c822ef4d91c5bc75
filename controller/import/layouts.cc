// SPDX-License-Identifier: Apache-2.0
// The second half of mig_configs.h: converts a config's entries to layouts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "apis/base/cut.h"
#include "apis/kinds/field_shapes.h"
#include "controller/fleet/geometry.h"
#include "controller/import/fitted_name.h"
#include "controller/import/mig_configs.h"
#include "controller/import/verdict.h"
#include "controller/mig/config_geometry.h"

namespace berth {
namespace {

using OrderedJson = nlohmann::ordered_json;

// The entries for a node's GPUs as spec.devices. An error says why a layout can't express them.
Result<OrderedJson> write_devices(const std::vector<const MigConfigEntry*>& entries) {
  OrderedJson devices = OrderedJson::array();
  std::vector<std::int64_t> named;
  if (entries.size() > limits::kMaxDevices)
    return invalid_spec("", fmt::format("a layout has at most {} entries", limits::kMaxDevices));
  for (const MigConfigEntry* entry : entries) {
    OrderedJson profiles = OrderedJson::object();
    for (const auto& [name, count] : entry->mig_devices)
      if (count > 0) profiles[name] = count;
    if (entry->mig_enabled && profiles.empty())
      return invalid_spec("",
                          "MIG on without a device is nothing that a layout says; without "
                          "profiles it turns MIG off");
    const auto gpus = gpus_of(*entry);
    OrderedJson device;
    if (gpus) {
      for (const std::int64_t gpu : *gpus)
        if (std::ranges::find(named, gpu) != named.end())
          return invalid_spec("", fmt::format("GPU {} is in two entries; list each once", gpu));
      named.insert(named.end(), gpus->begin(), gpus->end());
      device["gpus"] = *gpus;
    }
    if (!gpus && entries.size() > 1)
      return invalid_spec("",
                          "devices: all stands beside other entries, so that GPUs are in two; list "
                          "each GPU once");
    device["profiles"] = std::move(profiles);
    devices.push_back(std::move(device));
  }
  return devices;
}

// A config's entries for some products; no products: for all nodes.
struct View {
  std::vector<const Product*> products;
  std::vector<const MigConfigEntry*> entries;
};

class ConfigImport {
 public:
  ConfigImport(const MigConfig& config, const std::string& domain, ImportReport& report,
               std::vector<LayoutDraft>& out)
      : config_(config), domain_(domain), report_(report), out_(out) {}

  void run() {
    const std::size_t before = out_.size();
    for (const View& view : views()) add(view);
    if (out_.size() == before) return;
    if (config_.name.size() <= kMaxLabelValue && matches_pattern(config_.name, shape::kLabelValue))
      report_.ask(config_.source, "",
                  fmt::format("its nodes get it by label {0}/mig-layout; for those that have it: "
                              "kubectl label node -l nvidia.com/mig.config={1} {0}/mig-layout={2}",
                              domain_, config_.name, label()));
  }

 private:
  static constexpr std::size_t kMaxLabelValue = 63;

  std::string label() const {
    return fitted_name(config_.name, limits::kMaxLayoutName, NameGrammar::kSubdomain);
  }

  void lose(const std::string& why) { report_.lose(config_.source, "", why); }

  std::vector<View> views() {
    std::vector<const MigConfigEntry*> open;  // for any device
    std::vector<const Product*> products;
    for (const MigConfigEntry& entry : config_.entries) {
      if (takes_any_product(entry)) open.push_back(&entry);
      for (const std::string& filter : entry.device_filter) {
        const Product* product = product_of_filter(filter);
        if (product == nullptr && !filter.empty())
          lose(fmt::format("device-filter {}: no product that berth knows has this id",
                           cut(filter, kMaxLabelValue)));
        else if (product != nullptr && std::ranges::find(products, product) == products.end())
          products.push_back(product);
      }
    }
    if (open.size() == config_.entries.size()) return {{{}, open}};
    if (!open.empty())
      lose(
          "an entry without device-filter stands beside others with one; a layout has the latter's "
          "products, write another one for the rest");
    std::ranges::sort(products);  // all from one table, so this is its order
    return grouped(products);
  }

  // Products with the same entries share one layout.
  std::vector<View> grouped(const std::vector<const Product*>& products) const {
    std::vector<View> views;
    for (const Product* product : products) {
      View view{{product}, {}};
      for (const MigConfigEntry& entry : config_.entries) {
        const auto is_own = [&](const std::string& filter) {
          return product_of_filter(filter) == product;
        };
        if (takes_any_product(entry) || std::ranges::any_of(entry.device_filter, is_own))
          view.entries.push_back(&entry);
      }
      const auto same = std::ranges::find(views, view.entries, &View::entries);
      if (same == views.end())
        views.push_back(std::move(view));
      else
        same->products.push_back(product);
    }
    return views;
  }

  void add(const View& view) {
    const Result<OrderedJson> devices = write_devices(view.entries);
    if (!devices) return lose(of(view) + devices.error().message);
    const std::string json = write(view, *devices);
    const std::string fault = first_fault(json);
    if (!fault.empty() && view.products.size() > 1) {
      for (const Product* product : view.products) add({{product}, view.entries});
      return;
    }
    if (!fault.empty()) return lose(of(view) + fault);
    if (std::ranges::all_of(*devices, [](const OrderedJson& d) { return d.contains("gpus"); }))
      report_.ask(config_.source, "",
                  of(view) +
                      "a layout covers every GPU of a node; where nodes have more than it "
                      "names, add an entry without gpus");
    out_.push_back({name_of(view), json, &config_});
  }

  // The prefix of a message about some of the products.
  static std::string of(const View& view) {
    return view.products.empty() ? "" : fmt::format("for {}: ", fmt::join(models(view), ", "));
  }
  static std::vector<std::string> models(const View& view) {
    std::vector<std::string> names;
    for (const Product* product : view.products) names.push_back(product->model);
    return names;
  }

  std::string name_of(const View& view) const {
    std::string name = config_.name;
    if (std::ranges::any_of(config_.entries, [](const auto& e) { return !takes_any_product(e); })) {
      for (std::string model : models(view)) {
        for (char& c : model)
          if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
        name += "-" + model;
      }
    }
    return fitted_name(name, limits::kMaxLayoutName, NameGrammar::kSubdomain);
  }

  std::string write(const View& view, const OrderedJson& devices) const {
    OrderedJson object;
    object["apiVersion"] = api_version(kKind<MIGLayout>);
    object["kind"] = kKind<MIGLayout>.kind;
    object["metadata"]["name"] = name_of(view);
    OrderedJson& spec = object["spec"];
    spec["nodeSelector"]["matchLabels"][domain_ + "/mig-layout"] = label();
    std::vector<std::string> labels;
    for (const Product* product : view.products)
      for (const std::string& own : product->labels)
        if (std::ranges::find(labels, own) == labels.end()) labels.push_back(own);
    if (!labels.empty()) spec["productSelector"] = labels;
    spec["devices"] = devices;
    return object.dump();
  }

  const MigConfig& config_;
  const std::string& domain_;
  ImportReport& report_;
  std::vector<LayoutDraft>& out_;
};

}  // namespace

std::vector<LayoutDraft> draft_layouts(const std::vector<MigConfig>& configs,
                                       const std::string& label_domain, ImportReport& report) {
  std::vector<LayoutDraft> drafts;
  for (const MigConfig& config : configs) ConfigImport(config, label_domain, report, drafts).run();
  std::ranges::sort(drafts, {}, &LayoutDraft::name);
  return drafts;
}

}  // namespace berth
