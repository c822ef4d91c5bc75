// SPDX-License-Identifier: Apache-2.0
#include "controller/server/certificate_files.h"

#include <functional>
#include <utility>

namespace berth {

bool CertificateFiles::refresh() {
  const std::string chain_file = folder_ + "/tls.crt", key_file = folder_ + "/tls.key";
  const FileText chain = host_.read_file(chain_file);
  if (!chain.text) return complain(chain_file + ": " + chain.error);
  const FileText key = host_.read_file(key_file);
  if (!key.text) return complain(key_file + ": " + key.error);
  const std::size_t now = std::hash<std::string>()(*chain.text + *key.text);
  if (now == served_) return true;
  const Result<void> replaced = certificate_.replace(*chain.text, *key.text);
  if (!replaced.has_value()) return complain(folder_ + "/" + describe(replaced.error()));
  served_ = now;
  complaint_.clear();
  log_.info("serving a certificate",
            {{"folder", folder_}, {"not_after", format_time(*certificate_.not_after())}});
  return true;
}

bool CertificateFiles::complain(std::string why) {
  if (why != complaint_) log_.warn("no new certificate", {{"error", why}});
  complaint_ = std::move(why);
  return false;
}

}  // namespace berth
