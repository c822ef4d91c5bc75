// SPDX-License-Identifier: Apache-2.0
// Credentials: who we are to the API server and by what we recognise it, kept fresh from their
// files. Nothing in here is ever logged.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "controller/io/client_config.h"
#include "controller/io/transport.h"
#include "controller/live/reread_file.h"

namespace berth {

class Credentials {
 public:
  Credentials(const Loop& loop, const Host& host, Log& log, const ClientConfig& config);

  // Authorization and Impersonate-* as they stand now.
  std::vector<HttpHeader> headers();
  const std::string& certificate_authority() { return authority_.text(); }
  const std::string& client_certificate() { return certificate_.text(); }
  const std::string& client_key() { return key_.text(); }

  // After a 401: reads the token file again. True: there is a new token to try.
  bool refresh_token();
  // After a failed TLS handshake: the certificates may have been replaced.
  void refresh_certificates();

 private:
  // PEM given inline, or a file that is read again.
  class Pem {
   public:
    Pem(const Loop& loop, const Host& host, Log& log, const PemSource& source);
    const std::string& text() { return file_ ? file_->text() : data_; }
    void refresh() {
      if (file_) file_->refresh();
    }

   private:
    std::string data_;
    std::optional<RereadFile> file_;
  };
  std::string token();

  const ClientConfig& config_;
  std::optional<RereadFile> token_file_;
  Pem authority_;
  Pem certificate_;
  Pem key_;
};

}  // namespace berth
