// SPDX-License-Identifier: Apache-2.0
// ReportCollector: reads the contents of `berth report`. If the account may not read a part, it
// notes a gap and reads the rest.
#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "controller/client/api_client.h"
#include "controller/cmd/line/flags.h"
#include "controller/io/task.h"
#include "controller/report/report_file.h"
#include "controller/report/report_objects.h"

namespace berth {

class ReportCollector {
 public:
  ReportCollector(ApiClient& client, const Settings& settings)
      : client_(client), settings_(settings) {}

  // An error means that the API server can't be reached at all.
  Task<Result<std::string>> collect(std::stop_token stop);

  std::vector<ReportFile> files;
  std::vector<std::string> gaps;  // one line each

 private:
  Task<Result<std::string>> get(std::string target, std::stop_token stop);
  Task<void> add_list(std::string file, std::string path, std::stop_token stop);
  Task<void> add_events(std::stop_token stop);
  Task<void> add_history(std::stop_token stop);
  Task<void> add_berth(std::stop_token stop);
  Task<void> add_agents(std::vector<std::string> nodes, std::stop_token stop);
  Task<std::vector<LoggedContainer>> add_pods(std::string target, std::string file,
                                              std::stop_token stop);
  Task<void> add_logs(std::string path, std::string folder, LoggedContainer one, std::string bounds,
                      std::stop_token stop);
  Task<void> add_log(std::string target, std::string file, std::stop_token stop);
  void miss(const std::string& what, const Error& error);

  ApiClient& client_;
  const Settings settings_;
};

}  // namespace berth
