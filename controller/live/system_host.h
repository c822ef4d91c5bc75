// SPDX-License-Identifier: Apache-2.0
// SystemHost: this process's environment and this machine's files.
#pragma once

#include <string>

#include "controller/io/host.h"

namespace berth {

class SystemHost : public Host {
 public:
  std::optional<std::string> env(const std::string& name) const override;
  // Reads files of up to 16 MiB; larger ones are an error.
  FileText read_file(const std::string& path) const override;
};

}  // namespace berth
