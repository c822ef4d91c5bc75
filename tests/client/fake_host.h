// SPDX-License-Identifier: Apache-2.0
// FakeHost: files and environment from two maps.
#pragma once

#include <map>
#include <string>

#include "controller/io/host.h"

namespace berth {

class FakeHost : public Host {
 public:
  std::optional<std::string> env(const std::string& name) const override {
    const auto it = variables.find(name);
    if (it == variables.end()) return std::nullopt;
    return it->second;
  }
  FileText read_file(const std::string& path) const override {
    const auto it = files.find(path);
    if (it == files.end()) return {.missing = true, .error = "No such file or directory"};
    if (it->second == kUnreadable) return {.error = "Permission denied"};
    return {.text = it->second};
  }

  static constexpr char kUnreadable[] = "<unreadable>";
  std::map<std::string, std::string> variables;
  std::map<std::string, std::string> files;
};

}  // namespace berth
