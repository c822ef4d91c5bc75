// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/input/manifest_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

#include "apis/base/nearest_name.h"
#include "controller/cmd/input/manifest_texts.h"
#include "controller/preview/given_workload.h"

namespace berth {
namespace {

// A kind in berth's group that does not exist: most likely a typing error. The API server would
// refuse it.
Finding unknown_kind(const ManifestDocument& document, const std::string& file) {
  static const std::vector<std::string> kinds{std::string(kKind<MIGLayout>.kind),
                                              std::string(kKind<GPUClusterPolicy>.kind),
                                              std::string(kKind<GPUQueue>.kind)};
  const std::string nearest = nearest_name(document.kind, kinds);
  const std::string advice = nearest.empty()
                                 ? fmt::format("its kinds are {}", fmt::join(kinds, ", "))
                                 : "did you mean " + nearest + "?";
  return {.file = file,
          .line = line_of(document, "kind"),
          .field = "kind",
          .object = document.kind + (document.name.empty() ? "" : "/" + document.name),
          .message = fmt::format("{} has no such kind; {}", kKind<MIGLayout>.group, advice)};
}

// The group "gpu.berth.dev" in "gpu.berth.dev/v1alpha1".
bool is_of_our_group(const ManifestDocument& document) {
  return document.api_version.substr(0, document.api_version.find('/')) == kKind<MIGLayout>.group;
}

void read_documents(const Manifest& manifest, const std::string& file, Workloads workloads,
                    ManifestFiles& out) {
  const auto take = [&out](const std::vector<Finding>& findings) {
    out.findings.insert(out.findings.end(), findings.begin(), findings.end());
    return findings.empty();
  };
  take(manifest.findings);
  if (manifest.documents.empty() && manifest.findings.empty())
    out.skipped.push_back({.file = file, .message = "holds no object"});
  for (const ManifestDocument& document : manifest.documents) {
    if (document.kind == kKind<GPUClusterPolicy>.kind) {
      StrictPolicy strict = decode_strict_policy(document, file);
      if (take(strict.findings)) out.policies.push_back({strict.policy, document, file});
    } else if (document.kind == kKind<GPUQueue>.kind && is_of_our_group(document)) {
      StrictQueue strict = decode_strict_queue(document, file);
      if (take(strict.findings)) out.queues.push_back({strict.queue, document, file});
    } else if (document.kind == kKind<MIGLayout>.kind || document.kind.empty()) {
      StrictLayout strict = decode_strict(document, file);
      if (take(strict.findings)) out.layouts.push_back({strict.layout, document, file});
    } else if (workloads == Workloads::kTake && is_workload(document)) {
      out.workloads.push_back({document, file});
    } else if (is_of_our_group(document)) {
      out.findings.push_back(unknown_kind(document, file));
    } else {
      out.skipped.push_back({.file = file,
                             .line = document.line,
                             .object = document.kind + "/" + document.name,
                             .message = "is not one of berth's kinds; left alone"});
    }
  }
}

// Two manifests of one object: the later one would silently win.
template <class InFile>
void find_twins(const std::vector<InFile>& objects, std::vector<Finding>& findings) {
  std::map<std::string, const InFile*> first;
  for (const InFile& object : objects) {
    auto [it, fresh] = first.emplace(object.document.name, &object);
    if (fresh) continue;
    findings.push_back(
        {.file = object.file,
         .line = object.document.line,
         .field = "metadata.name",
         .object = object.document.kind + "/" + object.document.name,
         .message = fmt::format("is in {}:{} already; remove or rename one of the two",
                                it->second->file, it->second->document.line)});
  }
}

}  // namespace

Result<ManifestFiles> read_manifests(const std::vector<std::string>& paths, Workloads workloads) {
  Result<std::vector<ManifestText>> texts = read_manifest_texts(paths);
  if (!texts) return std::move(texts).error();
  ManifestFiles out;
  for (const ManifestText& text : *texts) read_documents(text.manifest, text.file, workloads, out);
  find_twins(out.layouts, out.findings);
  find_twins(out.policies, out.findings);
  find_twins(out.queues, out.findings);
  return out;
}

}  // namespace berth
