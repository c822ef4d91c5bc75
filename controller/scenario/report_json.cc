// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/report_json.h"

#include <nlohmann/json.hpp>

namespace berth {
namespace {

using Json = nlohmann::ordered_json;

double seconds(std::chrono::milliseconds span) { return static_cast<double>(span.count()) / 1000; }

Json json_of(const LayoutEnd& l) {
  return {{"name", l.name},
          {"ready", l.ready},
          {"reason", l.reason},
          {"message", l.message},
          {"selected", l.selected},
          {"updated", l.updated},
          {"inProgress", l.in_progress},
          {"blocked", l.blocked},
          {"failed", l.failed},
          {"config", l.config}};
}

Json json_of(const NodeEnd& n) {
  return {{"name", n.name},
          {"status", n.status},
          {"migConfig", n.mig_config},
          {"offers", n.offers},
          {"gpuPods", n.gpu_pods}};
}

Json json_of(const NodeOut& out) {
  return {{"node", out.node},
          {"layout", out.layout},
          {"end", to_string(out.end)},
          {"takenAtSeconds", seconds(out.taken)},
          {"drainSeconds", seconds(out.drain)},
          {"agentSeconds", seconds(out.agent)},
          {"verifySeconds", seconds(out.verify)},
          {"totalSeconds", seconds(out.total())}};
}

Json json_of(const TranscriptEntry& entry) {
  return {{"atSeconds", seconds(entry.at)}, {"subject", entry.subject}, {"text", entry.text}};
}

template <class T>
Json list_of(const std::vector<T>& items) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(json_of(item));
  return list;
}

}  // namespace

std::string print_json(const RunReport& report) {
  Json document = {{"apiVersion", kSimulationApiVersion},
                   {"kind", "SimulationReport"},
                   {"scenario", report.scenario},
                   {"seed", report.seed},
                   {"settled", report.unsettled.empty()}};
  if (!report.unsettled.empty()) document["unsettled"] = report.unsettled;
  document["elapsedSeconds"] = seconds(report.elapsed);
  document["events"] = list_of(report.events);
  document["layouts"] = list_of(report.end.layouts);
  document["nodes"] = list_of(report.end.nodes);
  document["waitingPods"] = report.end.waiting;
  document["rollouts"] = list_of(report.outs);
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace berth
