// SPDX-License-Identifier: Apache-2.0
// ReportFile: one file that `berth report` writes, and the archive of all of them.
#pragma once

#include <string>
#include <vector>

#include "apis/base/time.h"

namespace berth {

struct ReportFile {
  std::string path;  // "logs/berth-0.log", relative
  std::string text;
};

// An archive for `tar -xzf`, with time `at` for every file. Equal files make an equal archive.
std::string pack_report(const std::vector<ReportFile>& files, Time at);

}  // namespace berth
