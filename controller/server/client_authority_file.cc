// SPDX-License-Identifier: Apache-2.0
#include "controller/server/client_authority_file.h"

#include <utility>

namespace berth {

void ClientAuthorityFile::refresh() {
  FileText read = host_.read_file(file_);
  std::string complaint = read.error;
  if (read.text) {
    if (*read.text == trusted_) return;
    const Result<void> replaced = authorities_.replace(*read.text);
    if (replaced.has_value()) {
      trusted_ = std::move(*read.text);
      complaint_.clear();
      return log_.info("taking calls from who shows a certificate of these authorities",
                       {{"file", file_}});
    }
    complaint = replaced.error().message;
  }
  if (complaint != complaint_)
    log_.warn("no new authorities of clients", {{"file", file_}, {"error", complaint}});
  complaint_ = std::move(complaint);
}

}  // namespace berth
