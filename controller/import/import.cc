// SPDX-License-Identifier: Apache-2.0
#include "controller/import/import.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apis/kinds/mig_layout.h"
#include "controller/import/fitted_name.h"
#include "controller/import/mig_configs.h"
#include "controller/import/namespace_quotas.h"
#include "controller/import/not_carried.h"
#include "controller/import/policy_proposal.h"
#include "controller/import/verdict.h"

namespace berth {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kKueueGroup = "kueue.x-k8s.io";
constexpr std::string_view kKueueConfigGroup = "config.kueue.x-k8s.io";
constexpr std::string_view kKueueVersions[] = {"v1alpha1", "v1beta1", "v1beta2"};

std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == api_version.npos ? "" : api_version.substr(0, slash);
}

class Import {
 public:
  Import(Sources& sources, const std::string& domain) : sources_(sources), domain_(domain) {}

  Imported run() {
    for (Source& source : sources_) sort_in(source);
    if (out_.report.wrong.empty()) make();
    out_.report.sort(sources_);
    return std::move(out_);
  }

 private:
  ImportReport& report() { return out_.report; }

  void sort_in(Source& source) {
    const ManifestDocument& document = source.document;
    name(source);
    const std::string_view group = group_of(document.api_version);
    if (holds_mig_configs(source))
      take_configs(source);
    else if (document.kind.empty() || document.api_version.empty())
      report().refuse(source, document.kind.empty() ? "kind" : "apiVersion",
                      "is required; an object has both apiVersion and kind");
    else if (group == kKueueGroup)
      sort_in_kueue(source);
    else if (group == kKueueConfigGroup)
      report().lose(source, "", std::string(why_no_counterpart("Configuration")));
    else if (document.kind == "ResourceQuota" && document.api_version == "v1")
      take(source, quotas_);
    else if (group == kKind<MIGLayout>.group)
      report().skip(source, "is berth's already; left alone");
    else
      report().skip(source, "is nothing that berth import reads; left alone");
  }

  // Sets the source's label for messages: "LocalQueue/vision/main".
  static void name(Source& source) {
    const ManifestDocument& document = source.document;
    const Json json = Json::parse(document.json, nullptr, /*allow_exceptions=*/false);
    std::string ns;
    if (const auto meta = json.find("metadata"); meta != json.end() && meta->is_object())
      if (const auto own = meta->find("namespace"); own != meta->end() && own->is_string())
        ns = own->get<std::string>();
    for (const std::string& part : {document.kind, ns, document.name})
      if (!part.empty()) source.label += (source.label.empty() ? "" : "/") + part;
  }

  void sort_in_kueue(Source& source) {
    const std::string& kind = source.document.kind;
    const std::string_view version =
        std::string_view(source.document.api_version).substr(kKueueGroup.size() + 1);
    if (std::ranges::find(kKueueVersions, version) == std::end(kKueueVersions))
      return report().refuse(source, "apiVersion",
                             "berth import reads v1alpha1, v1beta1 and v1beta2 of kueue.x-k8s.io");
    if (kind == "ClusterQueue") return take(source, kueue_.cluster_queues);
    if (kind == "LocalQueue") return take(source, kueue_.local_queues);
    if (kind == "ResourceFlavor") return take(source, kueue_.flavors);
    if (kind == "Cohort") return take(source, kueue_.cohorts);
    if (kind == "WorkloadPriorityClass") return take(source, kueue_.priority_classes);
    if (kind == "Topology") return take(source, kueue_.topologies);
    const std::string_view why = why_no_counterpart(kind);
    report().lose(source, "",
                  why.empty() ? "berth import does not know this kind" : std::string(why));
  }

  template <class T>
  void take(Source& source, std::vector<T>& out) {
    const Json json = Json::parse(source.document.json, nullptr, /*allow_exceptions=*/false);
    std::optional<Error> error;
    T object;
    object.source = &source;
    read_object(JsonCursor(&json, error), object);
    if (error) return report().refuse(source, error->where, error->message);
    const auto [first, fresh] = seen_.emplace(source.label, &source);
    if (!fresh) return twice(source, *first->second);
    tell_not_carried(source, report());
    out.push_back(std::move(object));
  }

  void take_configs(const Source& source) {
    for (MigConfig& config : read_mig_configs(source, report())) {
      if (is_berth_config(config.name)) {
        report().skip(config.source, "is of a MIGLayout already; left alone");
        continue;
      }
      const std::string content = content_of(config);
      const auto [first, fresh] = contents_.emplace(config.name, content);
      if (fresh)
        configs_.push_back(std::move(config));
      else if (first->second == content)
        report().skip(config.source, "is in another file just so; taken once");
      else
        report().refuse(config.source, "",
                        "is in another file with other entries; remove or rename one of the two");
    }
  }

  static std::string content_of(const MigConfig& config) {
    std::string content;
    for (const MigConfigEntry& entry : config.entries) content += render_entry(entry);
    return content;
  }

  void twice(const Source& source, const Source& first) {
    report().refuse(source, "metadata.name",
                    fmt::format("is in {}:{} already; remove or rename one of the two", first.file,
                                first.document.line));
  }

  void make() {
    const PoolNames pools(kueue_.flavors);
    FlavorUses uses;
    std::vector<QueueDraft> queues = draft_queues(kueue_, pools, uses, report());
    import_namespace_quotas(quotas_, queues, report());
    for (const QueueDraft& queue : queues) add(queue);
    for (const LayoutDraft& layout : draft_layouts(configs_, domain_, report())) add(layout);
    const PolicyProposal policy = propose_policy(kueue_, pools, uses, domain_, report());
    out_.policy.json = policy.json;
    for (const Source* source : policy.sources) out_.policy.origins.push_back(origin(*source));
  }

  void add(const QueueDraft& queue) {
    ImportedObject object{.json = write_queue(queue, report())};
    if (const std::string fault = first_fault(object.json); !fault.empty())
      return report().lose(*queue.sources.front(), "", "a GPUQueue refuses it: " + fault);
    if (!names_.insert(queue.name).second)
      return report().lose(*queue.sources.front(), "metadata.name",
                           fmt::format("there is a GPUQueue {} already", queue.name));
    for (const Source* source : queue.sources) object.origins.push_back(origin(*source));
    out_.objects.push_back(std::move(object));
  }

  void add(const LayoutDraft& layout) {
    if (!layouts_.insert(layout.name).second)
      return report().lose(layout.config->source, "",
                           fmt::format("there is a MIGLayout {} already", layout.name));
    out_.objects.push_back({layout.json, {origin(layout.config->source)}});
  }

  Sources& sources_;
  const std::string& domain_;
  Imported out_;
  KueueObjects kueue_;
  std::vector<QuotaObject> quotas_;
  std::vector<MigConfig> configs_;
  std::map<std::string, const Source*> seen_;    // by label
  std::map<std::string, std::string> contents_;  // mig-parted's configs
  std::set<std::string> names_, layouts_;
};

}  // namespace

Imported import_objects(Sources sources, const std::string& label_domain) {
  return Import(sources, label_domain).run();
}

std::string domain_fault(const std::string& label_domain) {
  if (!is_object_name(label_domain) || label_domain.find('.') == std::string::npos)
    return "write a DNS name of yours, as node.example.com";
  for (const std::string_view theirs : {"kubernetes.io", "k8s.io", "nvidia.com", "gpu.berth.dev"})
    if (label_domain == theirs || label_domain.ends_with("." + std::string(theirs)))
      return fmt::format("labels of {} are not for people to make; write a DNS name of yours",
                         theirs);
  return {};
}

}  // namespace berth
