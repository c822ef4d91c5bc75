// SPDX-License-Identifier: Apache-2.0
// Credentials: who we are to the API server and by what we recognise it, kept fresh from their
// files. Nothing in here is ever logged.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "controller/io/client_config.h"
#include "controller/io/transport.h"
#include "controller/live/exec_login.h"
#include "controller/live/reread_file.h"
#include "controller/live/uv_loop.h"

namespace berth {

class Credentials {
 public:
  Credentials(UvLoop& loop, const Host& host, Log& log, const ClientConfig& config);

  // To be waited for before each request: a credential plugin may have to run. Gets what is wrong,
  // in a sentence, or nothing.
  void prepare(std::function<void(std::string fault)> ready);
  // Of the plugin: tells one credential from the next.
  std::uint64_t login() const { return exec_ ? exec_->run() : 0; }

  // Authorization and Impersonate-* as they stand now.
  std::vector<HttpHeader> headers();
  const std::string& certificate_authority() { return authority_.text(); }
  const std::string& client_certificate() {
    return exec_ ? exec_->credential().certificate : certificate_.text();
  }
  const std::string& client_key() { return exec_ ? exec_->credential().key : key_.text(); }

  // After a 401 to what `login` gave: reads the token file again, or has the plugin run again.
  // True: prepare() and another try may help.
  bool refresh_token(std::uint64_t login);
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
  std::optional<ExecLogin> exec_;
  std::optional<RereadFile> token_file_;
  Pem authority_;
  Pem certificate_;
  Pem key_;
};

}  // namespace berth
