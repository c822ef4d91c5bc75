// SPDX-License-Identifier: Apache-2.0
#include "controller/observe/identity.h"

namespace berth {
namespace {

struct Label {
  std::string_view name;
  std::string_view SeriesIdentity::*member;
};

// Labels that mean one thing wherever they stand. Of two that mean the same the first wins.
constexpr Label kLabels[] = {
    {"hostname", &SeriesIdentity::hostname},  // from dcgm-exporter 4.6 on
    {"Hostname", &SeriesIdentity::hostname},
    {"exported_hostname", &SeriesIdentity::hostname},
    {"node", &SeriesIdentity::node},
    {"kubernetes_node", &SeriesIdentity::node},
    {"nodename", &SeriesIdentity::node},
    {"instance", &SeriesIdentity::address},
    {"UUID", &SeriesIdentity::uuid},
    {"gpu_uuid", &SeriesIdentity::uuid},  // NVLink's series
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

// Where Prometheus does not honour the exporter's labels, `pod` is the exporter's own pod and the
// holder's stands under exported_. Where it does, or where nobody stands between, `pod` is the
// holder's; a GPU that nobody holds has none, and Prometheus then fills in the exporter's, which
// the caller must know by its holding no GPU.
void identify_pods(const LabelViews& labels, SeriesIdentity& out) {
  out.namespace_ = find(labels, "exported_namespace");
  out.pod = find(labels, "exported_pod");
  if (!out.pod.empty()) {
    out.exporter_namespace = find(labels, "namespace");
    out.exporter_pod = find(labels, "pod");
    return;
  }
  // DCGM_EXPORTER_USE_OLD_NAMESPACE, which nothing collides with.
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
