// SPDX-License-Identifier: Apache-2.0
#include "controller/observe/identity.h"

namespace berth {
namespace {

struct Label {
  std::string_view name;
  std::string_view SeriesIdentity::*member;
};

// Labels that have the same meaning in every setup. If several labels fill one field, the first
// wins.
constexpr Label kLabels[] = {
    {"hostname", &SeriesIdentity::hostname},  // since dcgm-exporter 4.6
    {"Hostname", &SeriesIdentity::hostname},
    {"exported_hostname", &SeriesIdentity::hostname},
    {"node", &SeriesIdentity::node},
    {"kubernetes_node", &SeriesIdentity::node},
    {"nodename", &SeriesIdentity::node},
    {"instance", &SeriesIdentity::address},
    {"UUID", &SeriesIdentity::uuid},
    {"gpu_uuid", &SeriesIdentity::uuid},  // in the series of NVLink
    {"gpu", &SeriesIdentity::index},
    {"GPU_I_ID", &SeriesIdentity::instance},
    {"GPU_I_PROFILE", &SeriesIdentity::profile},
    {"modelName", &SeriesIdentity::model},
    {"model_name", &SeriesIdentity::model},
};

constexpr std::string_view kPodLabels[] = {"exported_pod",       "pod",       "pod_name",
                                           "exported_namespace", "namespace", "pod_namespace"};

std::string_view find(const LabelViews& labels, std::string_view name) {
  for (const auto& [key, value] : labels)
    if (key == name) return value;
  return {};
}

// If Prometheus does not honour the exporter's labels, `pod` is the exporter's own pod and
// `exported_pod` is the holder. If it honours them, or berth scrapes the exporter itself, `pod` is
// the holder. A GPU without a holder has no such label, and Prometheus then adds the exporter's
// pod. The caller recognizes that pod because it holds no GPU.
void identify_pods(const LabelViews& labels, SeriesIdentity& out) {
  out.namespace_ = find(labels, "exported_namespace");
  out.pod = find(labels, "exported_pod");
  if (!out.pod.empty()) {
    out.exporter_namespace = find(labels, "namespace");
    out.exporter_pod = find(labels, "pod");
    return;
  }
  // The labels of DCGM_EXPORTER_USE_OLD_NAMESPACE collide with no others.
  out.namespace_ = find(labels, "pod_namespace");
  out.pod = find(labels, "pod_name");
  out.exporter_namespace = find(labels, "namespace");
  out.exporter_pod = find(labels, "pod");
  if (!out.pod.empty()) return;
  out.namespace_ = out.exporter_namespace;
  out.pod = out.exporter_pod;
}

}  // namespace

SeriesIdentity identify(const LabelViews& labels) {
  SeriesIdentity out;
  for (const Label& label : kLabels)
    if ((out.*label.member).empty()) out.*label.member = find(labels, label.name);
  identify_pods(labels, out);
  return out;
}

std::vector<std::string_view> identifying_labels() {
  std::vector<std::string_view> all(std::begin(kPodLabels), std::end(kPodLabels));
  for (const Label& label : kLabels) all.push_back(label.name);
  return all;
}

}  // namespace berth
