// SPDX-License-Identifier: Apache-2.0
// Source: one document of the input of `berth import`, with its file and line.
#pragma once

#include <string>
#include <vector>

#include "apis/codec/manifest.h"

namespace berth {

struct Source {
  std::string file;
  ManifestDocument document;
  std::string label = {};  // its name in messages: "LocalQueue/vision/main"; empty: not set yet
};
using Sources = std::vector<Source>;

// "ClusterQueue/vision (kueue.yaml:3)", for the comment above an imported object.
std::string origin(const Source& source);

}  // namespace berth
