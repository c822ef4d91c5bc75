// SPDX-License-Identifier: Apache-2.0
#include "controller/dump/dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "apis/codec/decode.h"
#include "apis/kinds/watched_kinds.h"
#include "controller/dump/dump_fields.h"
#include "controller/dump/json_at.h"

namespace berth {
namespace {

using nlohmann::json;

bool has_key_with(const json& object, std::string_view prefix) {
  if (!object.is_object()) return false;
  return std::ranges::any_of(object.items(),
                             [&](const auto& item) { return item.key().starts_with(prefix); });
}

// Broad: a node that any of NVIDIA's components, or berth, may take for a GPU node.
bool looks_like_gpu_node(const json& node) {
  const json& labels = at(node, {"metadata", "labels"});
  return has_key_with(labels, "nvidia.com/") ||
         at(labels, {"feature.node.kubernetes.io/pci-10de.present"}).is_string() ||
         has_key_with(at(node, {"status", "capacity"}), "nvidia.com/") ||
         has_key_with(at(node, {"metadata", "annotations"}), "gpu.berth.dev/");
}

// `pod`: a pod, or a Job's template.
bool asks_for_gpu(const json& pod) {
  if (at(pod, {"spec", "resourceClaims"}).is_array()) return true;
  for (std::string_view list : {"containers", "initContainers"}) {
    for (const json& container : at(pod, {"spec", list}))
      for (std::string_view prefix : {"nvidia.com/", "alpha.kubernetes.io/nvidia-gpu"})
        if (has_key_with(at(container, {"resources", "requests"}), prefix)) return true;
  }
  return false;
}

// Whether a queue may hold the object: it names a queue, or is part of a group.
bool names_queue(const json& object) {
  return has_key_with(at(object, {"metadata", "labels"}), "gpu.berth.dev/");
}

bool has_ended(const json& job) {
  return std::ranges::any_of(at(job, {"status", "conditions"}), [](const json& condition) {
    const std::string type = text_at(condition, {"type"});
    return (type == "Complete" || type == "Failed") && text_at(condition, {"status"}) == "True";
  });
}

bool may_queue(const json& job) {
  return !has_ended(job) && (names_queue(job) || asks_for_gpu(at(job, {"spec", "template"})));
}

// The line number of a byte offset, for messages.
std::size_t line_of(std::string_view text, std::size_t offset) {
  return 1 + static_cast<std::size_t>(
                 std::ranges::count(text.substr(0, std::min(offset, text.size())), '\n'));
}

Result<json> parse(std::string_view text, std::string_view what) {
  try {
    return json::parse(text);
  } catch (const json::parse_error& e) {
    return decode_error(std::string(what),
                        fmt::format("is not JSON: line {} can't be read", line_of(text, e.byte)));
  }
}

template <class T>
Result<void> load_item(const std::string& where, std::string text, Time now,
                       ClusterState& cluster) {
  Result<T> object = decode_object<T>(text);
  if (!object) return decode_error(where, describe(object.error()));
  if (object->meta.name.empty()) return decode_error(where + ".metadata.name", "is missing");
  cluster.upsert(std::move(*object), now);
  return {};
}

Result<void> load_item(const std::string& kind, const std::string& where, std::string text,
                       Time now, ClusterState& cluster) {
  std::optional<Result<void>> loaded;
  std::vector<std::string_view> kinds;
  Watched::each([&]<class T>() {
    if (kind == kKind<T>.kind) loaded = load_item<T>(where, std::move(text), now, cluster);
    kinds.push_back(kKind<T>.kind);
  });
  kinds.insert(kinds.end(), {"Deployment", "ReplicaSet", "StatefulSet", "Event", "Lease"});
  if (loaded) return *std::move(loaded);
  return decode_error(where + ".kind",
                      fmt::format("\"{}\" does not belong in a snapshot; expected one of {}", kind,
                                  fmt::join(kinds, ", ")));
}

// kDecode unless the document is a snapshot of a supported version.
Result<void> check_header(const json& document) {
  static constexpr std::string_view kAdvice = "; `berth snapshot -o FILE` writes one";
  const std::string kind = text_at(document, {"kind"});
  const std::string version = text_at(document, {"apiVersion"});
  if (kind != kDumpKind || !version.starts_with("snapshot.gpu.berth.dev/"))
    return decode_error("snapshot", fmt::format("is not a berth snapshot (kind {} expected, \"{}\" "
                                                "found){}",
                                                kDumpKind, kind, kAdvice));
  if (version != kDumpApiVersion)
    return decode_error(
        "apiVersion", fmt::format("{} is of another version of berth; this one reads {}{}", version,
                                  kDumpApiVersion, kAdvice));
  if (!at(document, {"items"}).is_array()) return decode_error("items", "a list is expected");
  return {};
}

}  // namespace

Result<std::string> DumpWriter::add_list(const KindInfo& kind, std::string_view list_body) {
  Result<json> list = parse(list_body, kind.plural);
  if (!list) return std::move(list).error();
  const json& items = at(*list, {"items"});
  if (!items.is_array() && !items.is_null())
    return decode_error(std::string(kind.plural), "items: a list is expected");
  for (const json& item : items)
    if (Result<void> added = add(kind, item); !added) return added.error();
  return text_at(*list, {"metadata", "continue"});
}

Result<void> DumpWriter::add_object(const KindInfo& kind, std::string_view body) {
  Result<json> object = parse(body, kind.kind);
  if (!object) return std::move(object).error();
  return add(kind, *object);
}

Result<void> DumpWriter::add(const KindInfo& kind, const json& object) {
  if (kind.kind == "Node" && looks_like_gpu_node(object))
    gpu_nodes_.insert(text_at(object, {"metadata", "name"}));
  if (kind.kind == "ClusterPolicy")
    for (const char* agent : {"migManager", "devicePlugin"})
      files_of_agents_.insert(text_at(object, {"spec", agent, "config", "name"}));
  if (kind.kind == "Pod") {
    const std::string node = text_at(object, {"spec", "nodeName"});
    if (!gpu_nodes_.contains(node) && !asks_for_gpu(object) && !names_queue(object) &&
        !keeps(object))
      return {};
    for (const json& owner : at(object, {"metadata", "ownerReferences"}))
      if (text_at(owner, {"kind"}) == "Job") job_uids_.insert(text_at(owner, {"uid"}));
  }
  if (kind.kind == "Job" && !job_uids_.contains(text_at(object, {"metadata", "uid"})) &&
      !may_queue(object) && !keeps(object))
    return {};

  json kept = trimmed(object, kind.kind);
  if (kept.is_null())
    return decode_error(std::string(kind.kind), "is not a kind that snapshots hold");
  kept["apiVersion"] = api_version(kind);
  kept["kind"] = kind.kind;
  if (!items_.empty()) items_ += ",\n";
  items_ += kept.dump(-1, ' ', false, json::error_handler_t::replace);
  ++objects_;
  return {};
}

bool DumpWriter::keeps(const json& object) const {
  return !kept_namespace_.empty() && text_at(object, {"metadata", "namespace"}) == kept_namespace_;
}

void DumpWriter::add_unread(const Unread& unread) {
  unread_ += unread_.empty() ? "" : ",\n";
  unread_ += encode(unread).dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string DumpWriter::str(Time taken_at) const {
  return fmt::format(
      "{{\"apiVersion\":\"{}\",\"kind\":\"{}\",\"takenAt\":\"{}\",{}\"items\":[\n{}\n]}}\n",
      kDumpApiVersion, kDumpKind, format_time(taken_at),
      unread_.empty() ? "" : fmt::format("\"unread\":[\n{}\n],", unread_), items_);
}

Result<Dump> load_dump(std::string_view text) {
  Result<json> document = parse(text, "snapshot");
  if (!document) return std::move(document).error();
  if (Result<void> good = check_header(*document); !good) return good.error();
  Result<Time> taken_at = parse_time(text_at(*document, {"takenAt"}));
  if (!taken_at) return decode_error("takenAt", taken_at.error().message);

  Dump dump{.taken_at = *taken_at};
  take_unread(at(*document, {"unread"}), dump.clues);
  std::size_t index = 0;
  for (const json& item : at(*document, {"items"})) {
    const std::string kind = text_at(item, {"kind"});
    const std::string name = text_at(item, {"metadata", "name"});
    const std::string where = fmt::format("items[{}]{}", index++,
                                          name.empty() ? "" : fmt::format(" ({}/{})", kind, name));
    const Result<bool> clue = take_clue(kind, item, dump.clues);
    if (!clue) return decode_error(where, describe(clue.error()));
    if (*clue) continue;
    if (kind == "Pod") take_pod_clues(item, dump.clues);
    Result<void> loaded = load_item(kind, where, item.dump(), dump.taken_at, dump.cluster);
    if (!loaded) return loaded.error();
  }
  return dump;
}

}  // namespace berth
