// SPDX-License-Identifier: Apache-2.0
// CertificateFiles: tls.crt and tls.key of one folder, as a Secret is mounted, kept in a
// ServingCertificate. The kubelet exchanges both by one symbolic link; a read that falls between is
// no pair, is told and tried again, and what was served goes on being served.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "controller/io/host.h"
#include "controller/io/log.h"
#include "controller/server/serving_certificate.h"

namespace berth {

class CertificateFiles {
 public:
  // All but the folder's name outlive it.
  CertificateFiles(const Host& host, Log& log, ServingCertificate& certificate, std::string folder)
      : host_(host), log_(log), certificate_(certificate), folder_(std::move(folder)) {}

  // Reads the files, and serves what they hold if that is new. True: what they hold is served.
  bool refresh();

 private:
  bool complain(std::string why);

  const Host& host_;
  Log& log_;
  ServingCertificate& certificate_;
  const std::string folder_;
  std::optional<std::size_t> served_;  // a hash of both files
  std::string complaint_;              // told once
};

}  // namespace berth
