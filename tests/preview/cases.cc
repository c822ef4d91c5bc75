// SPDX-License-Identifier: Apache-2.0
#include "tests/preview/cases.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "apis/codec/manifest.h"

namespace berth {

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

GoldenCase read_case(const std::string& name) {
  GoldenCase out;
  Result<Dump> dump = load_dump(read_text(kGoldens / name / "cluster.json"));
  if (dump)
    out.dump = std::move(*dump);
  else
    ADD_FAILURE() << name << ": " << describe(dump.error());
  const std::string text = read_text(kGoldens / name / "layout.yaml");
  for (const ManifestDocument& document : parse_manifest(text, "layout.yaml").documents) {
    if (document.kind == kKind<GPUClusterPolicy>.kind) {
      StrictPolicy strict = decode_strict_policy(document, "layout.yaml");
      for (const Finding& finding : strict.findings) ADD_FAILURE() << name << format(finding);
      out.policies.push_back(std::move(strict.policy));
      continue;
    }
    if (document.kind == kKind<GPUQueue>.kind) {
      StrictQueue strict = decode_strict_queue(document, "layout.yaml");
      for (const Finding& finding : strict.findings) ADD_FAILURE() << name << format(finding);
      out.queues.push_back(std::move(strict.queue));
      continue;
    }
    if (is_workload(document)) {
      Result<GivenWorkload> workload = read_workload(document, "default");
      if (!workload)
        ADD_FAILURE() << name << ": " << describe(workload.error());
      else
        out.workloads.push_back(*std::move(workload));
      continue;
    }
    StrictLayout strict = decode_strict(document, "layout.yaml");
    for (const Finding& finding : strict.findings) ADD_FAILURE() << name << ": " << format(finding);
    out.layouts.push_back(std::move(strict.layout));
  }
  return out;
}

}  // namespace berth
