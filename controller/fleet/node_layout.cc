// SPDX-License-Identifier: Apache-2.0
// Outline: check each entry's profiles, assign the GPU indices, report what is left over.
#include "controller/fleet/node_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "apis/base/cut.h"
#include "controller/fleet/placement.h"

namespace berth {
namespace {

constexpr std::size_t kSuggestions = 3;

std::string field(std::size_t entry, const char* name) {
  return fmt::format("spec.devices[{}].{}", entry, name);
}

// A user's text may be anything. A message contains its first characters only.
std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLimit = 40;
  return fmt::format("\"{}{}\"", head(text, kLimit), text.size() > kLimit ? "…" : "");
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replace});
    }
  }
  return row.back();
}

// Users often write another product's name for the same slice, so the compute slices count more
// than the letters.
const Profile* nearest_profile(const Product& product, std::string_view wanted) {
  constexpr std::size_t kTooFar = 6;
  if (wanted.size() > 32) return nullptr;
  const std::optional<ProfileName> parsed = parse_profile_name(wanted);
  const Profile* nearest = nullptr;
  std::size_t least = kTooFar;
  for (const Profile& profile : product.profiles) {
    std::size_t distance = edit_distance(wanted, profile.name);
    if (parsed && parsed->compute_slices != profile.compute_slices) distance += 2;
    if (distance < least) {
      least = distance;
      nearest = &profile;
    }
  }
  return nearest;
}

std::string profile_names(const Product& product) {
  std::vector<std::string> names;
  for (const Profile& profile : product.profiles) names.push_back(profile.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Error unknown_profile(const Product& product, const std::string& name, const std::string& where) {
  const Profile* nearest = nearest_profile(product, name);
  return invalid_spec(
      where,
      fmt::format("{} has no profile {}{}; its profiles are {}", product.model, in_quotes(name),
                  nearest ? fmt::format(" (did you mean {}?)", nearest->name) : "",
                  profile_names(product)));
}

Error misfit(const Product& product, const ProfileCounts& counts, const std::string& where) {
  std::vector<std::string> nearest;
  for (const ProfileCounts& offer : nearest_layouts(product, counts, kSuggestions))
    nearest.push_back(format(offer));
  return invalid_spec(where, fmt::format("{} {} on {}; the nearest that fit: {}", format(counts),
                                         explain_misfit(product, counts), product.model,
                                         fmt::join(nearest, " | ")));
}

// Returns the entry's profiles without zero counts, or why one GPU can't have them.
Result<ProfileCounts> check_profiles(const ProfileCounts& wish, const Product& product,
                                     const std::string& where) {
  ProfileCounts counts;
  for (const auto& [name, count] : wish) {
    const Profile* profile = product.find_profile(name);
    if (profile == nullptr) return unknown_profile(product, name, where);
    if (count < 0)
      return invalid_spec(where, fmt::format("{}: {} is not a number of instances; write 1 to {}",
                                             name, count, profile->max_count));
    for (const auto& [other, unused] : counts)
      if (profile->named(other))
        return invalid_spec(
            where, fmt::format("{} and {} are two drivers' names for one profile; write the "
                               "one that `nvidia-smi mig -lgip` shows on the node",
                               other, name));
    if (count > 0) counts[name] = count;
  }
  if (counts.empty() && !wish.empty())
    return invalid_spec(where, "every count is 0; write profiles: {} to turn MIG off");
  if (!counts.empty() && !place(product, counts)) return misfit(product, counts, where);
  return counts;
}

// Assigns GPU indices to entries, each at most once.
class Coverage {
 public:
  explicit Coverage(std::int32_t gpu_count) : owner_(static_cast<std::size_t>(gpu_count)) {}

  Result<void> claim(std::size_t entry, const std::vector<std::int32_t>& gpus) {
    const std::string where = field(entry, "gpus");
    if (gpus.empty())
      return invalid_spec(
          where, "names no GPU; leave the field out to mean every GPU no other entry names");
    for (std::int32_t gpu : gpus) {
      if (gpu < 0 || static_cast<std::size_t>(gpu) >= owner_.size())
        return invalid_spec(where,
                            fmt::format("GPU {} is not there: the node has {}", gpu, indices()));
      std::optional<std::size_t>& owner = owner_[static_cast<std::size_t>(gpu)];
      if (owner == entry) return invalid_spec(where, fmt::format("names GPU {} twice", gpu));
      if (owner)
        return invalid_spec(where,
                            fmt::format("GPU {} is already in {}", gpu, field(*owner, "gpus")));
      owner = entry;
    }
    return {};
  }

  void claim_rest(std::size_t entry) {
    for (std::optional<std::size_t>& owner : owner_) owner = owner.value_or(entry);
  }

  std::vector<std::size_t> uncovered() const {
    std::vector<std::size_t> gpus;
    for (std::size_t gpu = 0; gpu < owner_.size(); ++gpu)
      if (!owner_[gpu]) gpus.push_back(gpu);
    return gpus;
  }
  std::size_t owner(std::size_t gpu) const { return *owner_[gpu]; }

 private:
  std::string indices() const {
    return owner_.size() == 1 ? "one GPU, index 0"
                              : fmt::format("{} GPUs, 0 to {}", owner_.size(), owner_.size() - 1);
  }
  std::vector<std::optional<std::size_t>> owner_;
};

Result<Coverage> cover(const std::vector<DeviceLayout>& devices, std::int32_t gpu_count) {
  Coverage coverage(gpu_count);
  std::optional<std::size_t> rest;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].gpus) {
      Result<void> claimed = coverage.claim(i, *devices[i].gpus);
      if (!claimed) return claimed.error();
    } else if (rest) {
      return invalid_spec(
          field(i, "gpus"),
          fmt::format("missing, and spec.devices[{}] already takes every GPU no entry names; "
                      "one of the two must list its gpus",
                      *rest));
    } else {
      rest = i;
    }
  }
  if (rest) coverage.claim_rest(*rest);
  if (std::vector<std::size_t> missing = coverage.uncovered(); !missing.empty())
    return invalid_spec(
        "spec.devices",
        fmt::format("GPU{} {} of the node's {} {} in no entry; add one without gpus "
                    "(profiles: {{}} leaves MIG off)",
                    missing.size() == 1 ? "" : "s", fmt::join(missing, ", "), gpu_count,
                    missing.size() == 1 ? "is" : "are"));
  return coverage;
}

std::string gpu_range(std::size_t first, std::size_t last) {
  return first == last ? fmt::format("GPU {}", first) : fmt::format("GPUs {}-{}", first, last);
}

}  // namespace

Result<NodeLayout> resolve_layout(const std::vector<DeviceLayout>& devices, const Product& product,
                                  std::int32_t gpu_count) {
  if (devices.empty()) return invalid_spec("spec.devices", "has no entry, so it covers no GPU");
  if (gpu_count < 1 || gpu_count > limits::kMaxGpuIndex + 1)
    return invalid_spec("spec.devices",
                        fmt::format("can't be laid out on a node with {} GPUs; 1 to {} are "
                                    "possible",
                                    gpu_count, limits::kMaxGpuIndex + 1));
  std::vector<ProfileCounts> by_entry;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    Result<ProfileCounts> counts =
        check_profiles(devices[i].profiles, product, field(i, "profiles"));
    if (!counts) return counts.error();
    by_entry.push_back(std::move(*counts));
  }
  Result<Coverage> coverage = cover(devices, gpu_count);
  if (!coverage) return coverage.error();
  NodeLayout layout;
  for (std::size_t gpu = 0; gpu < static_cast<std::size_t>(gpu_count); ++gpu)
    layout.per_gpu.push_back(by_entry[coverage->owner(gpu)]);
  return layout;
}

std::string format(const ProfileCounts& counts) {
  if (counts.empty()) return "MIG off";
  std::vector<std::pair<std::string, std::int64_t>> sorted(counts.begin(), counts.end());
  auto size = [](const std::string& name) {
    const ProfileName parsed = parse_profile_name(name).value_or(ProfileName{});
    return std::pair(-parsed.compute_slices, -parsed.memory_gb);
  };
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const auto& a, const auto& b) { return size(a.first) < size(b.first); });
  std::vector<std::string> parts;
  for (const auto& [name, count] : sorted) parts.push_back(fmt::format("{} ×{}", name, count));
  return fmt::format("{}", fmt::join(parts, " + "));
}

std::string format(const NodeLayout& layout) {
  std::vector<std::string> parts;
  for (std::size_t first = 0, last = 0; first < layout.per_gpu.size(); first = ++last) {
    while (last + 1 < layout.per_gpu.size() && layout.per_gpu[last + 1] == layout.per_gpu[first])
      ++last;
    parts.push_back(fmt::format("{}: {}", gpu_range(first, last), format(layout.per_gpu[first])));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::optional<MigStrategy> parse_mig_strategy(std::string_view text) {
  for (MigStrategy strategy : {MigStrategy::kNone, MigStrategy::kSingle, MigStrategy::kMixed})
    if (text == to_string(strategy)) return strategy;
  return std::nullopt;
}

const char* to_string(MigStrategy strategy) {
  switch (strategy) {
    case MigStrategy::kNone:
      return "none";
    case MigStrategy::kSingle:
      return "single";
    case MigStrategy::kMixed:
      return "mixed";
  }
  return "unknown";
}

Result<void> check_strategy(const NodeLayout& layout, MigStrategy strategy) {
  const bool off = std::all_of(layout.per_gpu.begin(), layout.per_gpu.end(),
                               [](const ProfileCounts& gpu) { return gpu.empty(); });
  if (off || strategy == MigStrategy::kMixed) return {};
  if (strategy == MigStrategy::kNone)
    return invalid_spec(
        "spec.devices",
        "asks for MIG devices, but the node's MIG strategy is none, under which the device plugin "
        "advertises whole GPUs only; set the strategy to mixed (or to single for one profile)");
  const std::string& first =
      layout.per_gpu.front().empty() ? "" : layout.per_gpu.front().begin()->first;
  const bool uniform = std::all_of(
      layout.per_gpu.begin(), layout.per_gpu.end(),
      [&](const ProfileCounts& gpu) { return gpu.size() == 1 && gpu.begin()->first == first; });
  if (uniform) return {};
  return invalid_spec(
      "spec.devices",
      fmt::format("is heterogeneous, but the node's MIG strategy is single; set the strategy to "
                  "mixed, or give every GPU one and the same profile (the device plugin would not "
                  "start with {})",
                  format(layout)));
}

}  // namespace berth
