// SPDX-License-Identifier: Apache-2.0
// ManifestTexts: the documents in the files of -f.
#pragma once

#include <string>
#include <vector>

#include "apis/base/result.h"
#include "apis/codec/manifest.h"

namespace berth {

struct ManifestText {
  std::string file;  // its name in messages
  Manifest manifest;
};

// "-" is standard input. A folder means its *.yaml, *.yml and *.json files, by name. It is an error
// if a file is unreadable, if the files are too large together, or if they contain no object.
// Errors inside a file are findings of its manifest.
Result<std::vector<ManifestText>> read_manifest_texts(const std::vector<std::string>& paths);

}  // namespace berth
