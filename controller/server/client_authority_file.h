// SPDX-License-Identifier: Apache-2.0
// ClientAuthorityFile: one file of PEM certificates, as a ConfigMap is mounted, kept in
// ClientAuthorities. What can't be read is told once, and what was trusted goes on being trusted.
#pragma once

#include <optional>
#include <string>

#include "controller/io/host.h"
#include "controller/io/log.h"
#include "controller/server/client_authorities.h"

namespace berth {

class ClientAuthorityFile {
 public:
  // All but the file's name outlive it.
  ClientAuthorityFile(const Host& host, Log& log, ClientAuthorities& authorities, std::string file)
      : host_(host), log_(log), authorities_(authorities), file_(std::move(file)) {}

  void refresh();
  bool loaded() const { return authorities_.loaded(); }

 private:
  const Host& host_;
  Log& log_;
  ClientAuthorities& authorities_;
  const std::string file_;
  std::optional<std::string> trusted_;  // the text that is in force
  std::string complaint_;               // told once
};

}  // namespace berth
