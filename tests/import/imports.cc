// SPDX-License-Identifier: Apache-2.0
#include "tests/import/imports.h"

#include <gtest/gtest.h>

namespace berth::test {

Sources sources_of(const std::string& text, const std::string& file) {
  Manifest manifest = parse_manifest(text, file);
  for (const Finding& finding : manifest.findings) ADD_FAILURE() << format(finding);
  Sources sources;
  for (ManifestDocument& document : manifest.documents)
    sources.push_back({file, std::move(document)});
  return sources;
}

Imported import_text(const std::string& text) {
  return import_objects(sources_of(text), kLabelDomain);
}

std::string faults_in(const Imported& imported) {
  std::vector<ImportedObject> objects = imported.objects;
  if (!imported.policy.json.empty()) objects.push_back(imported.policy);
  std::string faults;
  for (const ImportedObject& object : objects) {
    const Manifest manifest = parse_manifest(object.json, "out");
    if (manifest.documents.size() != 1) return "no object: " + object.json;
    const ManifestDocument& document = manifest.documents.front();
    std::vector<Finding> findings = decode_strict_queue(document, "out").findings;
    if (document.kind == "MIGLayout") findings = decode_strict(document, "out").findings;
    if (document.kind == "GPUClusterPolicy")
      findings = decode_strict_policy(document, "out").findings;
    for (const Finding& finding : findings) faults += format(finding) + "\n";
  }
  return faults;
}

}  // namespace berth::test
