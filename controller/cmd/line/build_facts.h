// SPDX-License-Identifier: Apache-2.0
// BuildFacts: which version of berth this is. cmake/BerthVersion.cmake sets it when the build is
// configured.
#pragma once

#include <string>

namespace berth {

struct BuildFacts {
  std::string version;      // "0.1.0", or "0.1.0-dev.12.g7b8c4ab" for a tree without a tag
  std::string commit;       // full hash, or "unknown"
  std::string commit_date;  // "2026-11-23T16:00:00Z", or "unknown"
  std::string tree_state;   // "clean", "dirty" or "unknown"
  std::string compiler;     // "gcc 12.2.0"
  std::string platform;     // "linux/amd64"
};
const BuildFacts& build_facts();

// "0.1.0 (commit 7b8c4ab…, 2026-11-23)".
std::string summary(const BuildFacts& facts);

}  // namespace berth
