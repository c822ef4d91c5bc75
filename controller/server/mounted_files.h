// SPDX-License-Identifier: Apache-2.0
// MountedFiles: the files of a mounted Secret or ConfigMap. The kubelet replaces such files at run
// time by changing one symbolic link. This class passes on new contents. If a read hits the change,
// or the contents are refused, it logs that once and tries again.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "controller/io/host.h"
#include "controller/io/log.h"
#include "controller/server/client_authorities.h"
#include "controller/server/serving_certificate.h"

namespace berth {

class MountedFiles {
 public:
  // Texts in the order of the paths. If it refuses them, the old ones stay in use.
  using Take = std::function<Result<void>(const std::vector<std::string>& texts)>;

  // `complaint` is the log message if it can't take new contents. Host and log must outlive it.
  MountedFiles(const Host& host, Log& log, std::string complaint, std::vector<std::string> paths,
               Take take);

  // Reads the files and passes on new contents. True: the present contents are in use.
  bool refresh();
  bool taken() const { return taken_.has_value(); }  // whether it has ever taken contents

 private:
  Result<void> read_and_take();

  const Host& host_;
  Log& log_;
  const std::string complaint_;
  const std::vector<std::string> paths_;
  const Take take_;
  std::optional<std::size_t> taken_;  // a hash of all texts, because one of them is a key
  std::string told_;
};

// tls.crt and tls.key of one folder.
MountedFiles certificate_files(const Host& host, Log& log, ServingCertificate& certificate,
                               const std::string& folder);
// One file of PEM certificates.
MountedFiles client_authority_file(const Host& host, Log& log, ClientAuthorities& authorities,
                                   const std::string& file);

}  // namespace berth
