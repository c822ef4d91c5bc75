// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/commands/planned_deletions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <optional>

namespace berth {
namespace {

template <class T>
std::optional<ObjectRef> find(const ClusterState& cluster, const std::string& name) {
  const T* object = cluster.store<T>().find(name);
  return object != nullptr ? std::optional(ref_of(*object)) : std::nullopt;
}

struct DeletedKind {
  KindInfo kind;
  std::string_view shortened;
  std::optional<ObjectRef> (*find)(const ClusterState& cluster, const std::string& name);

  bool is_called(std::string_view word) const {
    const std::string_view group = ".gpu.berth.dev";
    if (word.ends_with(group)) word.remove_suffix(group.size());
    std::string singular(kind.kind);
    std::ranges::transform(singular, singular.begin(),
                           [](unsigned char c) { return std::tolower(c); });
    return word == shortened || word == singular || word == kind.plural;
  }
};

const DeletedKind kKinds[] = {{kKind<MIGLayout>, "migl", find<MIGLayout>},
                              {kKind<GPUClusterPolicy>, "gpupolicy", find<GPUClusterPolicy>},
                              {kKind<GPUQueue>, "gq", find<GPUQueue>}};

Result<ObjectRef> read_deletion(const std::string& text, const ClusterState& cluster) {
  const std::size_t slash = text.find('/');
  std::string word = text.substr(0, slash);
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return std::tolower(c); });
  const auto* kind = std::ranges::find_if(
      kKinds, [&](const DeletedKind& candidate) { return candidate.is_called(word); });
  if (slash == text.npos || kind == std::end(kKinds))
    return invalid_spec("--delete", fmt::format("{} is not KIND/NAME with KIND miglayout, "
                                                "gpuclusterpolicy or gpuqueue",
                                                text));
  const std::string name = text.substr(slash + 1);
  if (std::optional<ObjectRef> object = kind->find(cluster, name)) return *object;
  return invalid_spec("--delete", fmt::format("there is no {} {}", kind->kind.kind, name));
}

}  // namespace

Result<std::vector<ObjectRef>> read_deletions(const std::vector<std::string>& texts,
                                              const ClusterState& cluster) {
  std::vector<ObjectRef> objects;
  for (const std::string& text : texts) {
    Result<ObjectRef> object = read_deletion(text, cluster);
    if (!object) return object.error();
    objects.push_back(std::move(*object));
  }
  return objects;
}

}  // namespace berth
