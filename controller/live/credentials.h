// SPDX-License-Identifier: Apache-2.0
// Credentials: berth's credentials for the API server and the authorities that it trusts, reread
// from their files. Nothing in here is ever logged.
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

  // Wait for this before each request, because a credential plugin may have to run. `ready` gets
  // the error as a sentence, or nothing.
  void prepare(std::function<void(std::string fault)> ready);
  // Identifies the plugin's present credential.
  std::uint64_t login() const { return exec_ ? exec_->run() : 0; }

  // The present Authorization and Impersonate-* headers.
  std::vector<HttpHeader> headers();
  const std::string& certificate_authority() { return authority_.text(); }
  const std::string& client_certificate() {
    return exec_ ? exec_->credential().certificate : certificate_.text();
  }
  const std::string& client_key() { return exec_ ? exec_->credential().key : key_.text(); }

  // Call after a 401 for the credential `login`: rereads the token file, or drops the plugin's
  // credential. True: prepare() and another try may help.
  bool refresh_token(std::uint64_t login);
  // Call after a failed TLS handshake: the certificates may have been replaced.
  void refresh_certificates();

 private:
  // PEM given inline, or a file that is reread.
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
