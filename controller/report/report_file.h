// SPDX-License-Identifier: Apache-2.0
// ReportFile: one file of what `berth report` writes, and the archive of all of them.
#pragma once

#include <string>
#include <vector>

#include "apis/time.h"

namespace berth {

struct ReportFile {
  std::string path;  // "logs/berth-0.log", relative
  std::string text;
};

// As `tar -xzf` reads it, every file of this time. Equal files make an equal archive.
std::string pack_report(const std::vector<ReportFile>& files, Time at);

}  // namespace berth
