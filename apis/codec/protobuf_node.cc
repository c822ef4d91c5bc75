// SPDX-License-Identifier: Apache-2.0
// Reads nodes from protobuf: the same fields as decode_node.cc.
#include "apis/codec/protobuf_reader.h"
#include "apis/kinds/gpu_conditions.h"

namespace berth {
namespace {

struct NodeField {
  enum : std::uint32_t { kMetadata = 1, kSpec = 2, kStatus = 3 };
};
struct SpecField {
  enum : std::uint32_t { kUnschedulable = 4, kTaints = 5 };
};
struct StatusField {
  enum : std::uint32_t { kCapacity = 1, kAllocatable = 2, kConditions = 4, kNodeInfo = 7 };
};
struct TaintField {
  enum : std::uint32_t { kKey = 1, kValue = 2, kEffect = 3 };
};
struct ConditionField {
  enum : std::uint32_t { kType = 1, kStatus = 2, kReason = 5 };
};
struct SystemInfoField {
  enum : std::uint32_t { kBootId = 3 };
};

bool read_spec(ProtobufField spec, Node& node) {
  static std::vector<Taint> taints;
  taints.clear();
  each_field(spec.bytes(), [&](std::uint32_t number, ProtobufField field) {
    if (number == SpecField::kTaints) return append(field, taints);
    if (number != SpecField::kUnschedulable) return false;
    // Protobuf always has this field, JSON only if true. JSON patch tests need JSON's form.
    node.unschedulable = field.integer() != 0 ? std::optional<bool>(true) : std::nullopt;
    return true;
  });
  node.taints = take(taints);
  return true;
}

bool read_condition(ProtobufField condition, Node& node) {
  std::string_view type, status, reason;
  each_field(condition.bytes(), [&](std::uint32_t number, ProtobufField field) {
    switch (number) {
      case ConditionField::kType:
        type = field.bytes();
        return true;
      case ConditionField::kStatus:
        status = field.bytes();
        return true;
      case ConditionField::kReason:
        reason = field.bytes();
        return true;
      default:
        return false;
    }
  });
  take_condition(type, status, reason, node);
  return true;
}

bool read_system_info(ProtobufField info, Node& node) {
  each_field(info.bytes(), [&](std::uint32_t number, ProtobufField field) {
    return number == SystemInfoField::kBootId && read(field, node.boot_id);
  });
  return true;
}

bool read_status(ProtobufField status, Node& node) {
  static std::vector<ResourceList::value_type> capacity, allocatable;
  capacity.clear(), allocatable.clear();
  each_field(status.bytes(), [&](std::uint32_t number, ProtobufField field) {
    switch (number) {
      case StatusField::kCapacity:
        return append(field, capacity);
      case StatusField::kAllocatable:
        return append(field, allocatable);
      case StatusField::kConditions:
        return read_condition(field, node);
      case StatusField::kNodeInfo:
        return read_system_info(field, node);
      default:
        return false;
    }
  });
  node.capacity = ResourceList::take(capacity);
  node.allocatable = ResourceList::take(allocatable);
  return true;
}

}  // namespace

bool read(ProtobufField taint, Taint& out) {
  each_field(taint.bytes(), [&](std::uint32_t number, ProtobufField field) {
    if (number == TaintField::kKey) return read(field, out.key);
    if (number == TaintField::kValue) return read(field, out.value);
    return number == TaintField::kEffect && read(field, out.effect);
  });
  return true;
}

void read_message(std::string_view message, Node& node) {
  each_field(message, [&](std::uint32_t number, ProtobufField field) {
    if (number == NodeField::kMetadata) return read(field, node.meta);
    if (number == NodeField::kSpec) return read_spec(field, node);
    return number == NodeField::kStatus && read_status(field, node);
  });
}

}  // namespace berth
