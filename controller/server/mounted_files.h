// SPDX-License-Identifier: Apache-2.0
// MountedFiles: what a Secret or a ConfigMap holds where it is mounted. The kubelet exchanges such
// files by one symbolic link while we run: what they come to hold is handed on, and a read that
// falls between, or what is refused, is told once and tried again.
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
  // In the order of the paths. What it refuses leaves in force what it took before.
  using Take = std::function<Result<void>(const std::vector<std::string>& texts)>;

  // `complaint` is the log's message where nothing new is taken. Host and log outlive it.
  MountedFiles(const Host& host, Log& log, std::string complaint, std::vector<std::string> paths,
               Take take);

  // Reads the files, and hands over what they hold if that is new. True: it is what was taken last.
  bool refresh();
  bool taken() const { return taken_.has_value(); }  // ever

 private:
  Result<void> read_and_take();

  const Host& host_;
  Log& log_;
  const std::string complaint_;
  const std::vector<std::string> paths_;
  const Take take_;
  std::optional<std::size_t> taken_;  // a hash of all texts: a key is among them
  std::string told_;
};

// tls.crt and tls.key of one folder.
MountedFiles certificate_files(const Host& host, Log& log, ServingCertificate& certificate,
                               const std::string& folder);
// One file of PEM certificates.
MountedFiles client_authority_file(const Host& host, Log& log, ClientAuthorities& authorities,
                                   const std::string& file);

}  // namespace berth
