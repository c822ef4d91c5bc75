// SPDX-License-Identifier: Apache-2.0
#include "controller/live/credentials.h"

#include <chrono>
#include <utility>

namespace berth {
namespace {

// Bound tokens live for an hour and are replaced after 48 minutes; certificates live for months.
constexpr std::chrono::seconds kTokenAge{60};
constexpr std::chrono::seconds kCertificateAge{300};

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace

Credentials::Pem::Pem(const Loop& loop, const Host& host, Log& log, const PemSource& source)
    : data_(source.data) {
  if (source.data.empty() && !source.file.empty()) {
    file_.emplace(loop, host, log, source.file, kCertificateAge);
  }
}

Credentials::Credentials(UvLoop& loop, const Host& host, Log& log, const ClientConfig& config)
    : config_(config),
      authority_(loop, host, log, config.certificate_authority),
      certificate_(loop, host, log, config.client_certificate),
      key_(loop, host, log, config.client_key) {
  if (!config.token_file.empty())
    token_file_.emplace(loop, host, log, config.token_file, kTokenAge);
  if (config.exec) exec_.emplace(loop, *config.exec);
}

void Credentials::prepare(std::function<void(std::string fault)> ready) {
  if (exec_) return exec_->prepare(std::move(ready));
  ready("");
}

std::string Credentials::token() {
  if (exec_) return exec_->credential().token;
  const std::string from_file = token_file_ ? trimmed(token_file_->text()) : "";
  return from_file.empty() ? config_.token : from_file;
}

std::vector<HttpHeader> Credentials::headers() {
  std::vector<HttpHeader> out;
  const std::string bearer = token();
  if (!bearer.empty()) out.push_back({"Authorization", "Bearer " + bearer});
  if (!config_.impersonate_user.empty()) {
    out.push_back({"Impersonate-User", config_.impersonate_user});
  }
  if (!config_.impersonate_uid.empty()) out.push_back({"Impersonate-Uid", config_.impersonate_uid});
  for (const std::string& group : config_.impersonate_groups) {
    out.push_back({"Impersonate-Group", group});
  }
  return out;
}

bool Credentials::refresh_token(std::uint64_t login) {
  if (exec_) exec_->drop(login);
  return exec_ || (token_file_ && token_file_->refresh());
}

void Credentials::refresh_certificates() {
  authority_.refresh();
  certificate_.refresh();
  key_.refresh();
}

}  // namespace berth
