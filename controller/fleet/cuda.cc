// SPDX-License-Identifier: Apache-2.0
#include "controller/fleet/cuda.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace berth {
namespace {

constexpr std::size_t kMostParts = 4;
// NVIDIA's own images have about ten alternatives.
constexpr std::size_t kMostAlternatives = 64;

std::string_view label(const Node& node, std::string_view key) {
  const Text* value = node.meta.labels.find(key);
  return value == nullptr ? std::string_view() : value->view();
}

// Reads the labels PREFIX.major and so on.
std::optional<DriverVersion> from_parts(const Node& node, std::string_view prefix,
                                        const std::array<std::string_view, 3>& parts) {
  std::string text;
  for (const std::string_view part : parts) {
    const std::string_view value = label(node, fmt::format("{}.{}", prefix, part));
    if (value.empty()) break;
    text += fmt::format("{}{}", text.empty() ? "" : ".", value);
  }
  return parse_version(text);
}

// Reads today's labels, or else those of GPU feature discovery before 0.15.
std::optional<DriverVersion> version_of(const Node& node, std::string_view today,
                                        std::string_view before) {
  if (auto full = parse_version(label(node, fmt::format("{}.full", today)))) return full;
  if (auto parts = from_parts(node, today, {"major", "minor", "revision"})) return parts;
  return from_parts(node, before, {"major", "minor", "rev"});
}

std::strong_ordering compare(DriverVersion a, DriverVersion b) {
  a.resize(kMostParts);
  b.resize(kMostParts);
  return a <=> b;
}

bool holds(std::string_view op, std::strong_ordering order) {
  if (op == ">=") return order >= 0;
  if (op == "<=") return order <= 0;
  if (op == ">") return order > 0;
  if (op == "<") return order < 0;
  if (op == "!=") return order != 0;
  return order == 0;
}

// `part` is one part of an alternative: "cuda>=12.4".
bool may_hold(std::string_view part, const NodeCuda& has) {
  const std::size_t at = part.find_first_of("<>=!");
  if (at == part.npos) return true;
  const std::size_t end = part.find_first_not_of("<>=!", at);
  if (end == part.npos) return true;
  const std::string_view name = part.substr(0, at);
  const std::optional<DriverVersion>& version = name == "cuda" ? has.cuda : has.driver;
  const std::optional<DriverVersion> wanted = parse_version(part.substr(end));
  if ((name != "cuda" && name != "driver") || !version || !wanted) return true;
  return holds(part.substr(at, end - at), compare(*version, *wanted));
}

bool may_all_hold(std::string_view alternative, const NodeCuda& has) {
  while (!alternative.empty()) {
    const std::size_t comma = std::min(alternative.find(','), alternative.size());
    if (!may_hold(alternative.substr(0, comma), has)) return false;
    alternative.remove_prefix(std::min(comma + 1, alternative.size()));
  }
  return true;
}

}  // namespace

std::optional<DriverVersion> parse_version(std::string_view text) {
  DriverVersion version;
  while (version.size() < kMostParts) {
    int part = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), part);
    if (error != std::errc() || part < 0) return std::nullopt;
    version.push_back(part);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) return version;
    if (text.front() != '.') return std::nullopt;
    text.remove_prefix(1);
  }
  return std::nullopt;
}

NodeCuda cuda_of(const Node& node) {
  return {version_of(node, "nvidia.com/cuda.runtime-version", "nvidia.com/cuda.runtime"),
          version_of(node, "nvidia.com/cuda.driver-version", "nvidia.com/cuda.driver")};
}

std::string told(const NodeCuda& has) {
  std::string text;
  if (has.cuda) text = fmt::format("CUDA {}", fmt::join(*has.cuda, "."));
  if (has.driver)
    text += fmt::format("{}driver {}", text.empty() ? "" : ", ", fmt::join(*has.driver, "."));
  return text;
}

bool contradicts(std::string_view requirement, const NodeCuda& has) {
  bool any = false;
  for (std::size_t count = 0; count < kMostAlternatives; ++count) {
    const std::size_t begin = requirement.find_first_not_of(" \t\n");
    if (begin == requirement.npos) return any;
    requirement.remove_prefix(begin);
    const std::size_t end = std::min(requirement.find_first_of(" \t\n"), requirement.size());
    if (may_all_hold(requirement.substr(0, end), has)) return false;
    any = true;
    requirement.remove_prefix(end);
  }
  return false;
}

std::optional<std::string> cuda_at_least(std::string_view version) {
  if (!parse_version(version)) return std::nullopt;
  return fmt::format("cuda>={}", version);
}

}  // namespace berth
