// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/codec/decode.h"
#include "apis/codec/manifest.h"
#include "controller/scenario/scenario.h"
#include "tests/fuzz/checks.h"

namespace berth::test {
namespace {

constexpr char kManifest[] = "a.yaml";
constexpr std::size_t kMaxFindings = 1000;

std::string check_findings(const std::vector<Finding>& findings, std::string_view text,
                           std::size_t most) {
  const auto lines = 1 + std::ranges::count(text, '\n') + std::ranges::count(text, '\r');
  if (findings.size() > most) return "no end of findings";
  for (const Finding& finding : findings) {
    if (finding.file != kManifest || finding.message.empty()) return "a finding without words";
    if (finding.line < 0 || finding.line > lines) return "no such line: " + format(finding);
    if (finding.message.size() > text.size() + 1000) return "a finding at length";
  }
  return {};
}

// YAML includes JSON, so the document's JSON is a manifest too.
std::string check_json(const ManifestDocument& document) {
  const Manifest again = parse_manifest(document.json, kManifest);
  if (document.kind == "List" || document.json.size() > 4000) return {};  // split; too slow
  if (again.documents.size() != 1 || again.documents.front().json != document.json)
    return "its JSON is another document: " + document.json + "\n" +
           (again.findings.empty() ? "" : format(again.findings.front()));
  return {};
}

// What `berth validate` accepts, the controller, which reads JSON, must read in the same way.
template <class T, class Strict>
std::string check_passed(const ManifestDocument& document, const T& read, const Strict& strict) {
  if (!strict.findings.empty()) return {};
  std::string json = document.json;
  const Result<T> decoded = decode_object<T>(json);
  if (!decoded.has_value()) return "validated, and yet not decoded: " + describe(decoded.error());
  return decoded->spec == read.spec ? "" : "validated as another spec than decoded";
}

std::string check_document(const ManifestDocument& document, std::string_view text) {
  if (!nlohmann::json::accept(document.json)) return "a document that is no JSON";
  const std::size_t most = kMaxFindings + 2 * text.size();
  const StrictLayout layout = decode_strict(document, kManifest);
  const StrictPolicy policy = decode_strict_policy(document, kManifest);
  for (const std::string& wrong :
       {check_findings(layout.findings, text, most), check_findings(policy.findings, text, most),
        check_passed(document, layout.layout, layout),
        check_passed(document, policy.policy, policy), check_json(document)})
    if (!wrong.empty()) return wrong;
  return {};
}

// Files named by incidents are read from disk, and may be endless devices.
bool names_a_file(std::string_view scenario) {
  constexpr std::string_view kFileKey = "file", kProfile = "profile";
  for (std::size_t at = scenario.find(kFileKey); at != scenario.npos;
       at = scenario.find(kFileKey, at + 1))
    if (!scenario.substr(0, at + kFileKey.size()).ends_with(kProfile)) return true;
  return false;
}

}  // namespace

Verdict check_manifest(std::string_view text) {
  const Manifest manifest = parse_manifest(text, kManifest);
  Verdict verdict{check_findings(manifest.findings, text, kMaxFindings + 1000),
                  !manifest.documents.empty()};
  for (const ManifestDocument& document : manifest.documents) {
    if (!verdict.wrong.empty()) break;
    verdict.wrong = check_document(document, text);
  }
  return verdict;
}

Verdict check_scenario(std::string_view text) {
  if (names_a_file(text)) return {};
  const Result<Scenario> scenario = parse_scenario(text, "scenario.yaml");
  if (scenario.has_value()) return {.read = true};
  const std::string& message = scenario.error().message;
  return {.wrong = message.starts_with("scenario.yaml") ? "" : "not of this file: " + message};
}

}  // namespace berth::test
