// SPDX-License-Identifier: Apache-2.0
// Manifests as users write them: YAML or JSON, several documents per file, read strictly. Every
// complaint names file and line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/result.h"
#include "apis/kinds/gpu_cluster_policy.h"
#include "apis/kinds/gpu_queue.h"
#include "apis/kinds/mig_layout.h"

namespace berth {

struct Finding {
  std::string file;
  int line = 0;         // 1-based; 0: the whole file
  std::string field;    // "spec.devices[0].profiles", or empty
  std::string object;   // "MIGLayout/inference-a100", or empty
  std::string message;  // what is wrong and what to write instead
};
// "file:line: MIGLayout/x: spec.devices[0].gpus: message".
std::string format(const Finding& finding);

// One document of a manifest file, decoded.
struct ManifestDocument {
  std::string api_version;
  std::string kind;
  std::string name;
  int line = 0;      // where the document starts
  std::string json;  // the document as JSON, with kubectl's types of scalars
  // Field path → line, for problems found later (geometry).
  std::vector<std::pair<std::string, int>> lines;
};

struct Manifest {
  std::vector<ManifestDocument> documents;
  std::vector<Finding> findings;  // syntax errors, duplicate keys
};

// Splits a file into documents and types its scalars. Never throws: an unreadable document is a
// finding.
Manifest parse_manifest(std::string_view text, std::string_view file);

// Decodes one document strictly. It reports unknown keys (with the most similar known name), wrong
// types, bounds, enums and check_rules(). The layout has all readable fields, and defaults for the
// rest.
struct StrictLayout {
  MIGLayout layout;
  std::vector<Finding> findings;
};
StrictLayout decode_strict(const ManifestDocument& document, std::string_view file);

struct StrictPolicy {
  GPUClusterPolicy policy;
  std::vector<Finding> findings;
};
StrictPolicy decode_strict_policy(const ManifestDocument& document, std::string_view file);

struct StrictQueue {
  GPUQueue queue;
  std::vector<Finding> findings;
};
StrictQueue decode_strict_queue(const ManifestDocument& document, std::string_view file);

// The line of the field, or of its nearest ancestor in the document.
int line_of(const ManifestDocument& document, std::string_view field_path);

}  // namespace berth
