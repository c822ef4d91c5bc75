// SPDX-License-Identifier: Apache-2.0
// ManifestTexts: what stands in the files that -f names.
#pragma once

#include <string>
#include <vector>

#include "apis/manifest.h"
#include "apis/result.h"

namespace berth {

struct ManifestText {
  std::string file;  // as messages call it
  Manifest manifest;
};

// "-" is standard input; of a folder, its *.yaml, *.yml and *.json files by name. An error is a
// file that can't be read, files that are too large together, or that there is no object in any;
// what is wrong inside is a finding of the manifest.
Result<std::vector<ManifestText>> read_manifest_texts(const std::vector<std::string>& paths);

}  // namespace berth
