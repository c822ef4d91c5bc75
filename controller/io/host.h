// SPDX-License-Identifier: Apache-2.0
// Host: the environment variables and files that hold configuration. An interface, so that tests
// need neither.
#pragma once

#include <optional>
#include <string>

namespace berth {

struct FileText {
  std::optional<std::string> text;
  bool missing = false;  // no such file; false if it exists but can't be read
  std::string error;     // why there is no text: "No such file or directory"
};

class Host {
 public:
  virtual ~Host() = default;
  virtual std::optional<std::string> env(const std::string& name) const = 0;
  virtual FileText read_file(const std::string& path) const = 0;
};

}  // namespace berth
