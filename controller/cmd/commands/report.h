// SPDX-License-Identifier: Apache-2.0
// `berth report`: collects what a bug report needs in one archive.
#pragma once

#include <string>

#include "controller/cmd/line/flags.h"

namespace berth {

struct ReportFlags {
  std::string output = "berth-report.tgz";
  bool anonymize = false;
  ConfigFlags connection;
  Settings settings;
};
FlagTable report_flags(ReportFlags& flags);

int run_report(const ReportFlags& flags);

}  // namespace berth
