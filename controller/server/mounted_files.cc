// SPDX-License-Identifier: Apache-2.0
#include "controller/server/mounted_files.h"

#include <utility>

namespace berth {

MountedFiles::MountedFiles(const Host& host, Log& log, std::string complaint,
                           std::vector<std::string> paths, Take take)
    : host_(host),
      log_(log),
      complaint_(std::move(complaint)),
      paths_(std::move(paths)),
      take_(std::move(take)) {}

bool MountedFiles::refresh() {
  const Result<void> done = read_and_take();
  const std::string why = done.has_value() ? "" : describe(done.error());
  if (!why.empty() && why != told_) log_.warn(complaint_, {{"error", why}});
  told_ = why;
  return done.has_value();
}

Result<void> MountedFiles::read_and_take() {
  std::vector<std::string> texts;
  std::string all;
  for (const std::string& path : paths_) {
    FileText read = host_.read_file(path);
    if (!read.text) return invalid_spec(path, read.error);
    all += *read.text;
    texts.push_back(*std::move(read.text));
  }
  const std::size_t now = std::hash<std::string>()(all);
  if (now == taken_) return {};
  Result<void> took = take_(texts);
  if (took.has_value()) taken_ = now;
  return took;
}

MountedFiles certificate_files(const Host& host, Log& log, ServingCertificate& certificate,
                               const std::string& folder) {
  const auto take = [&log, &certificate, folder](const std::vector<std::string>& texts) {
    Result<void> replaced = certificate.replace(texts[0], texts[1]);
    if (!replaced.has_value()) {
      Error why = std::move(replaced).error();
      return Result<void>(invalid_spec(folder + "/" + why.where, std::move(why.message)));
    }
    log.info("serving a certificate",
             {{"folder", folder}, {"not_after", format_time(*certificate.not_after())}});
    return replaced;
  };
  return {host, log, "no new certificate", {folder + "/tls.crt", folder + "/tls.key"}, take};
}

MountedFiles client_authority_file(const Host& host, Log& log, ClientAuthorities& authorities,
                                   const std::string& file) {
  const auto take = [&log, &authorities, file](const std::vector<std::string>& texts) {
    Result<void> replaced = authorities.replace(texts[0]);
    if (!replaced.has_value()) return Result<void>(invalid_spec(file, replaced.error().message));
    log.info("accepting only clients with a certificate of these authorities", {{"file", file}});
    return replaced;
  };
  return {host, log, "no new authorities of clients", {file}, take};
}

}  // namespace berth
