// SPDX-License-Identifier: Apache-2.0
#include "controller/preview/patched.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apis/codec/decode.h"

namespace berth {
namespace {

using nlohmann::json;

json encode(const StringMap& map) {
  json out = json::object();
  for (const auto& [key, value] : map) out[key.str()] = value.str();
  return out;
}

StringMap decode_map(const json& object) {
  StringMap out;
  if (!object.is_object()) return out;
  for (const auto& [key, value] : object.items())
    if (value.is_string()) out.set(Text(key), Text(value.get<std::string>()));
  return out;
}

json encode_meta(const ObjectMeta& meta) {
  return {{"name", meta.name},
          {"namespace", meta.namespace_.str()},
          {"uid", meta.uid},
          {"resourceVersion", meta.resource_version},
          {"labels", encode(meta.labels)},
          {"annotations", encode(meta.annotations)}};
}

json encode(const std::vector<Taint>& taints) {
  json out = json::array();
  for (const Taint& taint : taints) {
    json entry = {{"key", taint.key.str()}, {"effect", taint.effect.str()}};
    if (!taint.value.empty()) entry["value"] = taint.value.str();
    out.push_back(std::move(entry));
  }
  return out;
}

std::string text_of(const json& object, const char* key) {
  return object.contains(key) && object.at(key).is_string() ? object.at(key).get<std::string>()
                                                            : std::string();
}

std::vector<Taint> decode_taints(const json& list) {
  std::vector<Taint> taints;
  if (!list.is_array()) return taints;
  for (const json& taint : list)
    taints.push_back({Text(text_of(taint, "key")), Text(text_of(taint, "value")),
                      Text(text_of(taint, "effect"))});
  return taints;
}

Error refused(std::string_view where, std::string_view why) {
  return Error{
      .kind = ErrorKind::kConflict, .message = std::string(why), .where = std::string(where)};
}

Result<void> apply_operation(json& document, const json& operation) {
  const std::string op = text_of(operation, "op");
  const std::string path = text_of(operation, "path");
  const json::json_pointer pointer(path);
  const json value = operation.value("value", json());
  const bool present = document.contains(pointer);
  if (op == "test") {
    const bool holds = present ? document.at(pointer) == value
                               : value.is_null() && document.contains(pointer.parent_pointer());
    if (!holds) return refused(path, fmt::format("is not {}", value.dump()));
  } else if (op == "remove") {
    if (!present) return refused(path, "is not there to be removed");
    json& parent = document.at(pointer.parent_pointer());
    if (parent.is_array())
      parent.erase(parent.begin() + (&document.at(pointer) - &parent.front()));
    else
      parent.erase(pointer.back());
  } else if (op == "add" || (op == "replace" && present)) {
    if (!document.contains(pointer.parent_pointer())) return refused(path, "has no parent");
    document[pointer] = value;
  } else {
    return refused(path, fmt::format("{} is not possible here", op));
  }
  return {};
}

// The patch as JSON, or its error; catches nlohmann's exceptions.
template <class Apply>
Result<void> with_json(std::string_view text, Apply&& apply) {
  try {
    return apply(json::parse(text));
  } catch (const json::exception& e) {
    return refused("patch", e.what());
  }
}

Result<void> merge(json& document, const json& patch) {
  const json metadata = patch.value("metadata", json::object());
  for (const char* key : {"uid", "resourceVersion"}) {
    if (metadata.contains(key) && metadata.at(key) != document["metadata"][key])
      return refused(fmt::format("metadata.{}", key), "is another one now");
  }
  document.merge_patch(patch);
  return {};
}

json encode(const Node& node) {
  json document = {{"metadata", encode_meta(node.meta)}, {"spec", json::object()}};
  if (node.unschedulable) document["spec"]["unschedulable"] = *node.unschedulable;
  if (!node.taints.empty()) document["spec"]["taints"] = encode(node.taints);
  return document;
}

// The node with the document's values in those fields that reconcilers write.
Node with_fields(Node node, const json& document) {
  const json metadata = document.value("metadata", json::object());
  node.meta.labels = decode_map(metadata.value("labels", json()));
  node.meta.annotations = decode_map(metadata.value("annotations", json()));
  const json spec = document.value("spec", json::object());
  node.unschedulable.reset();
  if (spec.contains("unschedulable") && spec.at("unschedulable").is_boolean())
    node.unschedulable = spec.at("unschedulable").get<bool>();
  node.taints = decode_taints(spec.value("taints", json()));
  return node;
}

}  // namespace

Result<Node> patched(const Node& node, std::string_view json_patch) {
  json document = encode(node);
  Result<void> done = with_json(json_patch, [&](const json& patch) -> Result<void> {
    for (const json& operation : patch)
      if (Result<void> applied = apply_operation(document, operation); !applied) return applied;
    return {};
  });
  if (!done) return done.error();
  return with_fields(node, document);
}

Result<Node> merged(const Node& node, std::string_view merge_patch) {
  json document = encode(node);
  Result<void> done =
      with_json(merge_patch, [&](const json& patch) { return merge(document, patch); });
  if (!done) return done.error();
  return with_fields(node, document);
}

Result<ConfigMap> merged(const ConfigMap& config_map, std::string_view merge_patch) {
  json document = {{"metadata", encode_meta(config_map.meta)}, {"data", config_map.data}};
  ConfigMap out = config_map;
  Result<void> done = with_json(merge_patch, [&](const json& patch) -> Result<void> {
    if (Result<void> good = merge(document, patch); !good) return good;
    out.meta.labels = decode_map(document["metadata"]["labels"]);
    out.meta.annotations = decode_map(document["metadata"]["annotations"]);
    out.data.clear();
    for (const auto& [key, value] : document["data"].items())
      if (value.is_string()) out.data[key] = value.get<std::string>();
    return {};
  });
  if (!done) return done.error();
  return out;
}

Result<Job> merged(const Job& job, std::string_view merge_patch) {
  json document = {{"metadata", encode_meta(job.meta)}, {"spec", {{"suspend", job.suspended}}}};
  Job out = job;
  Result<void> done = with_json(merge_patch, [&](const json& patch) -> Result<void> {
    if (Result<void> good = merge(document, patch); !good) return good;
    out.suspended = document["spec"].value("suspend", json(false)) == true;
    return {};
  });
  if (!done) return done.error();
  return out;
}

namespace {

template <class T>
Result<T> with_finalizers(const T& object, std::string_view merge_patch) {
  json document = {{"metadata", encode_meta(object.meta)}};
  for (const Text& finalizer : object.meta.finalizers)
    document["metadata"]["finalizers"].push_back(finalizer.str());
  T out = object;
  Result<void> done = with_json(merge_patch, [&](const json& patch) -> Result<void> {
    if (Result<void> good = merge(document, patch); !good) return good;
    out.meta.finalizers.clear();
    for (const json& finalizer : document["metadata"].value("finalizers", json::array()))
      if (finalizer.is_string()) out.meta.finalizers.push_back(finalizer.get<std::string>());
    return {};
  });
  if (!done) return done.error();
  return out;
}

}  // namespace

Result<MIGLayout> merged(const MIGLayout& layout, std::string_view merge_patch) {
  return with_finalizers(layout, merge_patch);
}

Result<GPUClusterPolicy> merged(const GPUClusterPolicy& policy, std::string_view merge_patch) {
  return with_finalizers(policy, merge_patch);
}

}  // namespace berth
