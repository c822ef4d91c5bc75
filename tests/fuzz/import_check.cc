// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "controller/import/print.h"
#include "controller/import/verdict.h"
#include "tests/fuzz/checks.h"

namespace berth::test {
namespace {

constexpr char kFile[] = "a.yaml";

std::string check_objects(const Imported& imported) {
  for (const ImportedObject& object : imported.objects) {
    if (const std::string fault = first_fault(object.json); !fault.empty())
      return "makes what is not valid: " + fault + "\n" + object.json;
    if (object.origins.empty()) return "an object of nothing";
  }
  if (imported.policy.json.empty()) return {};
  const std::string fault = first_fault(imported.policy.json);
  return fault.empty() ? "" : "proposes what is not valid: " + fault;
}

std::string check_printed(const Imported& imported) {
  const Manifest printed = parse_manifest(print_manifests(imported, PolicyAs::kComment), kFile);
  if (!printed.findings.empty()) return "prints no YAML: " + format(printed.findings.front());
  if (printed.documents.size() != imported.objects.size()) return "prints another number";
  for (std::size_t i = 0; i < printed.documents.size(); ++i)
    if (nlohmann::json::parse(printed.documents[i].json) !=
        nlohmann::json::parse(imported.objects[i].json))
      return "prints another object: " + printed.documents[i].json;
  return {};
}

std::string check_told(const Imported& imported, std::size_t documents) {
  const ImportReport& report = imported.report;
  for (const auto* list : {&report.lost, &report.steps, &report.skipped, &report.wrong})
    for (const Finding& finding : *list)
      if (finding.file != kFile || finding.message.empty() || finding.line < 0)
        return "a finding without words or place: " + format(finding);
  const bool nothing = report.lost.empty() && report.skipped.empty() && report.steps.empty() &&
                       imported.objects.empty() && imported.policy.json.empty();
  return documents > 0 && nothing && report.wrong.empty() ? "drops all in silence" : "";
}

}  // namespace

Verdict check_import(std::string_view text) {
  Manifest manifest = parse_manifest(text, kFile);
  Sources sources;
  for (ManifestDocument& document : manifest.documents)
    sources.push_back({kFile, std::move(document)});
  const std::size_t documents = sources.size();
  const Imported imported = import_objects(std::move(sources), kLabelDomain);
  Verdict verdict{.wrong = check_told(imported, documents),
                  .read = documents > 0 && imported.report.wrong.empty()};
  if (verdict.wrong.empty() && verdict.read) verdict.wrong = check_objects(imported);
  if (verdict.wrong.empty() && verdict.read) verdict.wrong = check_printed(imported);
  return verdict;
}

}  // namespace berth::test
