// SPDX-License-Identifier: Apache-2.0
// Manifests as people write them: YAML or JSON, several documents to a file, read strictly. Every
// complaint carries file and line.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apis/gpu_cluster_policy.h"
#include "apis/gpu_queue.h"
#include "apis/mig_layout.h"
#include "apis/result.h"

namespace berth {

struct Finding {
  std::string file;
  int line = 0;         // 1-based; 0: the file as a whole
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
  std::string json;  // the document as JSON, scalars typed as kubectl types them
  std::vector<std::pair<std::string, int>>
      lines;  // field path → line, for messages found later (geometry)
};

struct Manifest {
  std::vector<ManifestDocument> documents;
  std::vector<Finding> findings;  // syntax errors, duplicate keys
};

// Splits and types a file's text. Never throws; an unreadable document is a finding.
Manifest parse_manifest(std::string_view text, std::string_view file);

// Decodes one document strictly: unknown keys (with the nearest known name), wrong types, bounds,
// enums and check_rules(). The layout is filled as far as it could be read, with defaults.
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

// The line of a field path or of its nearest ancestor that stands in the document.
int line_of(const ManifestDocument& document, std::string_view field_path);

}  // namespace berth
