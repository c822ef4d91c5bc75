// SPDX-License-Identifier: Apache-2.0
#include "apis/kinds/status_json.h"

#include <nlohmann/json.hpp>

#include "apis/base/cut.h"
#include "apis/kinds/mig_layout.h"

namespace berth {

std::string clip(const std::string& message) { return cut(message, limits::kMaxMessage, "..."); }

StatusJson encode(const std::vector<Condition>& conditions) {
  StatusJson list = StatusJson::array();
  for (const Condition& condition : conditions) {
    list.push_back({{"type", condition.type},
                    {"status", condition.status},
                    {"observedGeneration", condition.observed_generation},
                    {"lastTransitionTime", format_time(condition.last_transition_time)},
                    {"reason", condition.reason},
                    {"message", clip(condition.message)}});
  }
  return list;
}

std::string dump(const StatusJson& json) {
  return json.dump(-1, ' ', false, StatusJson::error_handler_t::replace);
}

std::string dump_status_patch(const ObjectMeta& read, StatusJson status) {
  StatusJson meta{{"resourceVersion", read.resource_version}};
  return dump(StatusJson{{"metadata", std::move(meta)}, {"status", std::move(status)}});
}

}  // namespace berth
