// SPDX-License-Identifier: Apache-2.0
// The tables. Eleven generations of data-centre GPUs use one scheme with eight memory units and
// seven compute slices. They differ only in the gigabytes in their profile names. A30 and RTX PRO
// 6000 have schemes of their own.
#include "controller/fleet/geometry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

namespace berth {
namespace {

// The gigabytes in profile names of a 7-slot product, for one, two, four and all eight memory
// units. The driver rounds them, so none can be computed from another.
struct Gigabytes {
  int one, two, four, all;
};

std::string profile_name(int compute_slices, int gigabytes, std::string_view attributes = "") {
  return fmt::format("{}g.{}gb{}", compute_slices, gigabytes, attributes);
}

Profile profile(int compute_slices, int gigabytes, std::string_view attributes, int memory_units,
                std::vector<int> starts, int max_count, Engines engines = {}) {
  return {.name = profile_name(compute_slices, gigabytes, attributes),
          .compute_slices = compute_slices,
          .memory_units = memory_units,
          .starts = std::move(starts),
          .max_count = max_count,
          .attributes = std::string(attributes),
          .engines = engines};
}

Product seven_slot(std::string model, std::string family, Gigabytes gb,
                   std::vector<std::string> labels, std::vector<std::uint16_t> device_ids) {
  const Engines one_ofa{.ofa = 1};
  return {.model = std::move(model),
          .family = std::move(family),
          .labels = std::move(labels),
          .device_ids = std::move(device_ids),
          .memory_gb = gb.all,
          .memory_units = 8,
          .compute_slices = 7,
          .engines = one_ofa,
          .profiles = {
              profile(7, gb.all, "", 8, {0}, 1),
              profile(4, gb.four, "", 4, {0}, 1),
              profile(3, gb.four, "", 4, {0, 4}, 2),
              profile(2, gb.two, "", 2, {0, 2, 4}, 3),
              profile(1, gb.two, "", 2, {0, 2, 4, 6}, 4),
              profile(1, gb.one, "", 1, {0, 1, 2, 3, 4, 5, 6}, 7),
              profile(1, gb.one, "+me", 1, {0, 1, 2, 3, 4, 5, 6}, 1, one_ofa),
          }};
}

// Drivers round the total differently as their own reserve shrinks, and both spellings are in use.
Product with_older_names(Product product, Gigabytes older) {
  for (Profile& p : product.profiles) {
    int gigabytes = p.memory_units == 8   ? older.all
                    : p.memory_units == 4 ? older.four
                    : p.memory_units == 2 ? older.two
                                          : older.one;
    std::string name = profile_name(p.compute_slices, gigabytes, p.attributes);
    if (name != p.name) p.aliases.push_back(std::move(name));
  }
  return product;
}

Product a30() {
  const Engines one_ofa{.ofa = 1};
  return {.model = "A30",
          .family = "ampere",
          .labels = {"NVIDIA-A30", "NVIDIA-A30-PCIE-24GB"},
          .device_ids = {0x20B7},
          .memory_gb = 24,
          .memory_units = 4,
          .compute_slices = 4,
          .engines = one_ofa,
          .profiles = {
              profile(4, 24, "", 4, {0}, 1),
              profile(2, 12, "", 2, {0, 2}, 2),
              profile(2, 12, "+me", 2, {0, 2}, 1, one_ofa),
              profile(1, 6, "", 1, {0, 1, 2, 3}, 4),
              profile(1, 6, "+me", 1, {0, 1, 2, 3}, 1, one_ofa),
          }};
}

Product rtx_pro_6000() {
  const Engines none{}, one{1, 1, 1, 0}, two{2, 2, 2, 0}, all{4, 4, 4, 1};
  const std::vector<int> quarters{0, 3, 6, 9}, halves{0, 6};
  return {.model = "RTX-PRO-6000",
          .family = "blackwell",
          .labels = {"NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition",
                     "NVIDIA-RTX-PRO-6000-Blackwell-Workstation-Edition",
                     "NVIDIA-RTX-PRO-6000-Blackwell-Max-Q-Workstation-Edition"},
          .device_ids = {0x2BB5, 0x2BB1, 0x2BB4},
          .memory_gb = 96,
          .memory_units = 12,
          .compute_slices = 4,
          .engines = all,
          .profiles = {
              profile(4, 96, "", 12, {0}, 1, all),
              profile(4, 96, "+gfx", 12, {0}, 1, all),
              profile(2, 48, "", 6, halves, 2, two),
              profile(2, 48, "+gfx", 6, halves, 2, two),
              profile(2, 48, "+me.all", 6, halves, 1, all),
              profile(2, 48, "-me", 6, halves, 2, none),
              profile(1, 24, "", 3, quarters, 4, one),
              profile(1, 24, "+gfx", 3, quarters, 4, one),
              profile(1, 24, "+me", 3, quarters, 1, {1, 1, 1, 1}),
              profile(1, 24, "+me.all", 3, quarters, 1, all),
              profile(1, 24, "-me", 3, quarters, 4, none),
          }};
}

const std::vector<Product>& products() {
  static const std::vector<Product> table{
      a30(),
      seven_slot("A100-40GB", "ampere", {5, 10, 20, 40},
                 {"NVIDIA-A100-SXM4-40GB", "NVIDIA-A100-PCIE-40GB", "NVIDIA-A100-40GB-PCIe",
                  "NVIDIA-A800-SXM4-40GB", "NVIDIA-A800-PCIE-40GB", "NVIDIA-A800-40GB-PCIe"},
                 {0x20B0, 0x20B1, 0x20BD, 0x20F1, 0x20F6}),
      seven_slot("A100-80GB", "ampere", {10, 20, 40, 80},
                 {"NVIDIA-A100-SXM4-80GB", "NVIDIA-A100-80GB-PCIe", "NVIDIA-A100-PCIE-80GB",
                  "NVIDIA-A800-SXM4-80GB", "NVIDIA-A800-80GB-PCIe", "NVIDIA-A800-PCIE-80GB"},
                 {0x20B2, 0x20B5, 0x20F3, 0x20F5}),
      seven_slot("H100-80GB", "hopper", {10, 20, 40, 80},
                 {"NVIDIA-H100-80GB-HBM3", "NVIDIA-H100-PCIe", "NVIDIA-H800", "NVIDIA-H800-PCIe"},
                 {0x2330, 0x2331, 0x2322, 0x2324}),
      seven_slot("H100-94GB", "hopper", {12, 24, 47, 94}, {"NVIDIA-H100-NVL", "NVIDIA-H800-NVL"},
                 {0x2321, 0x233A}),
      // 20B6 has this geometry in NVIDIA's own table, though the number is from the A100's range.
      seven_slot("H100-96GB", "hopper", {12, 24, 48, 96},
                 {"NVIDIA-H100-96GB-HBM3", "NVIDIA-H100-SXM5-96GB", "NVIDIA-H100-96GB"},
                 {0x233D, 0x20B6}),
      seven_slot("H20", "hopper", {12, 24, 48, 96}, {"NVIDIA-H20"}, {0x2329}),
      // 480GB and 120GB are the CPU's memory: the label does not say how much the GPU has.
      seven_slot("GH200-96GB", "hopper", {12, 24, 48, 96},
                 {"NVIDIA-GH200-480GB", "NVIDIA-GH200-120GB"}, {0x2342}),
      seven_slot("GH200-144GB", "hopper", {18, 36, 72, 144},
                 {"NVIDIA-GH200-480GB", "NVIDIA-GH200-120GB", "NVIDIA-GH200-144G-HBM3e"}, {0x2348}),
      seven_slot("H200", "hopper", {18, 35, 71, 141}, {"NVIDIA-H200", "NVIDIA-H200-NVL"},
                 {0x2335, 0x233B}),
      seven_slot("B200", "blackwell", {23, 45, 90, 180}, {"NVIDIA-B200"}, {0x2901}),
      with_older_names(
          seven_slot("GB200", "blackwell", {23, 47, 93, 186}, {"NVIDIA-GB200"}, {0x2941}),
          {23, 47, 95, 189}),
      seven_slot("B300", "blackwell", {34, 67, 135, 269}, {"NVIDIA-B300-SXM6-AC", "NVIDIA-B300"},
                 {0x3182}),
      seven_slot("GB300", "blackwell", {35, 70, 139, 278}, {"NVIDIA-GB300"}, {0x31C2}),
      rtx_pro_6000(),
  };
  return table;
}

constexpr std::string_view kVendorPrefix = "NVIDIA-";

bool carries_label(const Product& product, std::string_view label) {
  return std::any_of(product.labels.begin(), product.labels.end(), [&](std::string_view known) {
    return known == label || known.substr(kVendorPrefix.size()) == label;
  });
}

// nvidia.com/gpu.memory is the driver's total. It is a few percent less than the nominal size in
// GiB.
bool has_memory(const Product& product, std::int64_t memory_mib) {
  const std::int64_t nominal_mib = std::int64_t{product.memory_gb} * 1024;
  return memory_mib > nominal_mib * 9 / 10 && memory_mib < nominal_mib * 11 / 10;
}

std::vector<const Product*> candidates(std::string_view label) {
  std::vector<const Product*> found;
  for (const Product& product : products())
    if (carries_label(product, strip_product_suffix(label))) found.push_back(&product);
  return found;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

// Takes up to four digits off the front, because no number in a profile name has more.
std::optional<int> take_number(std::string_view& text) {
  std::size_t length = 0;
  int value = 0;
  while (length < text.size() && length < 5 && text[length] >= '0' && text[length] <= '9')
    value = value * 10 + (text[length++] - '0');
  if (length == 0 || length == 5) return std::nullopt;
  text.remove_prefix(length);
  return value;
}

bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

// mig-parted's grammar: one sign, then names separated by commas. A name has letters, digits and
// inner dots, and begins with a letter.
bool valid_attributes(std::string_view text) {
  if (text.empty()) return true;
  if (text.front() != '+' && text.front() != '-') return false;
  auto letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  auto digit = [](char c) { return c >= '0' && c <= '9'; };
  char before = ',';
  for (char c : text.substr(1)) {
    const bool starts_name = before == ',';
    const bool after_dot = before == '.';
    if (starts_name ? !letter(c)
        : after_dot ? !(letter(c) || digit(c))
                    : !(letter(c) || digit(c) || c == '.' || c == ','))
      return false;
    before = c;
  }
  return before != ',' && before != '.';
}

}  // namespace

bool Profile::named(std::string_view wanted) const {
  return name == wanted || std::find(aliases.begin(), aliases.end(), wanted) != aliases.end();
}

const Profile* Product::find_profile(std::string_view name) const {
  for (const Profile& p : profiles)
    if (p.named(name)) return &p;
  return nullptr;
}

std::span<const Product> all_products() { return products(); }

const Product* find_product(std::string_view gpu_product_label,
                            std::optional<std::int64_t> memory_mib) {
  std::vector<const Product*> found = candidates(gpu_product_label);
  // If the label names one product, the memory is not needed. Under strategy single it is only one
  // instance's anyway.
  if (found.size() > 1)
    std::erase_if(found,
                  [&](const Product* p) { return !memory_mib || !has_memory(*p, *memory_mib); });
  return found.size() == 1 ? found.front() : nullptr;
}

const Product* find_product_by_device_id(std::uint16_t pci_device_id) {
  for (const Product& product : products())
    if (std::find(product.device_ids.begin(), product.device_ids.end(), pci_device_id) !=
        product.device_ids.end())
      return &product;
  return nullptr;
}

const Product* find_product_by_model(std::string_view model) {
  for (const Product& product : products())
    if (upper(product.model) == upper(model)) return &product;
  return nullptr;
}

Result<const Product*> require_product(std::string_view gpu_product_label,
                                       std::optional<std::int64_t> memory_mib) {
  if (const Product* product = find_product(gpu_product_label, memory_mib)) return product;
  std::vector<std::string> models;
  const std::vector<const Product*> found = candidates(gpu_product_label);
  for (const Product* product : found) models.push_back(product->model);
  if (found.empty()) {
    for (const Product& product : products()) models.push_back(product.model);
    return invalid_spec(
        "", fmt::format("berth does not know the MIG geometry of GPU product \"{}\"; it knows {}",
                        gpu_product_label.substr(0, 80), fmt::join(models, ", ")));
  }
  const std::string memory = memory_mib
                                 ? fmt::format("says {} MiB, which fits neither", *memory_mib)
                                 : std::string("is missing");
  return invalid_spec(
      "", fmt::format("GPU product \"{}\" may be {}: nvidia.com/gpu.memory, read while MIG is "
                      "off, tells them apart, and it {}",
                      gpu_product_label, fmt::join(models, " or "), memory));
}

std::string strip_product_suffix(std::string_view gpu_product_label) {
  std::string_view label = gpu_product_label;
  if (label.ends_with("-SHARED")) label.remove_suffix(std::string_view("-SHARED").size());
  return std::string(label.substr(0, label.find("-MIG-")));
}

std::optional<ProfileName> parse_profile_name(std::string_view name) {
  std::optional<int> slices = take_number(name);
  if (!slices || !take(name, "g.")) return std::nullopt;
  std::optional<int> gigabytes = take_number(name);
  if (!gigabytes || !take(name, "gb") || !valid_attributes(name)) return std::nullopt;
  return ProfileName{*slices, *gigabytes, std::string(name)};
}

}  // namespace berth
