// SPDX-License-Identifier: Apache-2.0
// Source: one document of what `berth import` is given, and where it stands.
#pragma once

#include <string>
#include <vector>

#include "apis/manifest.h"

namespace berth {

struct Source {
  std::string file;
  ManifestDocument document;
  std::string label = {};  // what messages call it: "LocalQueue/vision/main"; empty: nothing yet
};
using Sources = std::vector<Source>;

// "ClusterQueue/vision (kueue.yaml:3)", for a comment above what was made of it.
std::string origin(const Source& source);

}  // namespace berth
