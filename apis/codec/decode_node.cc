// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/decode_frame.h"
#include "apis/kinds/gpu_conditions.h"

namespace berth {
namespace {

bool read_spec(od::value spec, Node& node, Fault& fault) {
  return each_field(spec, fault, [&](std::string_view key, od::value value) {
    if (key == "taints") return read(value, node.taints, fault);
    if (key != "unschedulable") return true;
    if (is_null(value)) {
      node.unschedulable.reset();
      return true;
    }
    return read(value, node.unschedulable.emplace(), fault);
  });
}

bool read_conditions(od::value conditions, Node& node, Fault& fault) {
  node.ready = false;
  node.gpu_conditions = {};
  return each_item(conditions, fault, [&](od::value condition) {
    std::string_view type, status, reason;
    bool good = each_field(condition, fault, [&](std::string_view key, od::value value) {
      if (key == "type") return read(value, type, fault);
      if (key == "status") return read(value, status, fault);
      if (key == "reason") return read(value, reason, fault);
      return true;
    });
    take_condition(type, status, reason, node);
    return good;
  });
}

bool read_status(od::value status, Node& node, Fault& fault) {
  return each_field(status, fault, [&](std::string_view key, od::value value) {
    if (key == "capacity") return read(value, node.capacity, fault);
    if (key == "allocatable") return read(value, node.allocatable, fault);
    if (key == "conditions") return read_conditions(value, node, fault);
    if (key != "nodeInfo") return true;
    return each_field(value, fault, [&](std::string_view name, od::value info) {
      return name != "bootID" || read(info, node.boot_id, fault);
    });
  });
}

}  // namespace

bool read(od::value value, Taint& out, Fault& fault) {
  return each_field(value, fault, [&](std::string_view key, od::value field) {
    if (key == "key") return read(field, out.key, fault);
    if (key == "value") return read(field, out.value, fault);
    if (key == "effect") return read(field, out.effect, fault);
    return true;
  });
}

bool read(od::value value, Node& node, Fault& fault) {
  return each_field(value, fault, [&](std::string_view key, od::value field) {
    if (key == "metadata") return read(field, node.meta, fault);
    if (key == "spec") return read_spec(field, node, fault);
    if (key == "status") return read_status(field, node, fault);
    return true;
  });
}

}  // namespace berth
