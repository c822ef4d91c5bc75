// SPDX-License-Identifier: Apache-2.0
// Caller: a client of an HTTPS listener on loopback that calls as the API server does: by the
// Service's name, trusting the authorities that it was told of.
#pragma once

#include <curl/curl.h>
#include <poll.h>
#include <sys/socket.h>

#include <string>
#include <utility>

#include "controller/certificates/certificate_maker.h"

namespace berth {

inline constexpr char kService[] = "berth-webhook.berth-system.svc";

// One client of the listener's, with connections of its own.
class Caller {
 public:
  // `own` is what it shows of itself if it is asked.
  Caller(int port, std::string trusted, CertificatePair own = {})
      : port_(port), trusted_(std::move(trusted)), own_(std::move(own)) {
    const std::string resolve = std::string(kService) + ":" + std::to_string(port) + ":127.0.0.1";
    resolve_ = curl_slist_append(nullptr, resolve.c_str());
  }
  Caller(const Caller&) = delete;
  ~Caller() {
    curl_easy_cleanup(curl_);
    curl_slist_free_all(resolve_);
  }

  long status = 0;
  long version = 0;  // CURL_HTTP_VERSION_…; libcurl offers HTTP/2 too
  std::string body;
  // Connects, and asks for nothing. Empty, or why that failed.
  std::string shake_hands() {
    curl_easy_reset(curl_);
    const std::string url = "https://" + std::string(kService) + ":" + std::to_string(port_);
    curl_blob bundle{trusted_.data(), trusted_.size(), CURL_BLOB_NOCOPY};
    curl_easy_setopt(curl_, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl_, CURLOPT_RESOLVE, resolve_);
    curl_easy_setopt(curl_, CURLOPT_CAINFO_BLOB, &bundle);
    curl_easy_setopt(curl_, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(curl_, CURLOPT_NOSIGNAL, 1L);
    const CURLcode code = curl_easy_perform(curl_);
    return code == CURLE_OK ? "" : curl_easy_strerror(code);
  }
  // After shake_hands(): whether that connection is over within so long.
  bool ended_by_peer(int seconds) {
    curl_socket_t socket = CURL_SOCKET_BAD;
    curl_easy_getinfo(curl_, CURLINFO_ACTIVESOCKET, &socket);
    pollfd wait{.fd = socket, .events = POLLIN, .revents = 0};
    while (poll(&wait, 1, seconds * 1000) > 0) {
      char bytes[4096];  // tickets and settings, of which libcurl is not to hear
      if (recv(socket, bytes, sizeof(bytes), 0) <= 0) return true;
    }
    return false;
  }
  // Empty, or why the call failed.
  std::string post(const std::string& text, bool on_a_new_connection, long max_tls = 0) {
    curl_easy_reset(curl_);
    body.clear();
    const std::string url = "https://" + std::string(kService) + ":" + std::to_string(port_) + "/m";
    curl_blob bundle{trusted_.data(), trusted_.size(), CURL_BLOB_NOCOPY};
    curl_easy_setopt(curl_, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl_, CURLOPT_RESOLVE, resolve_);
    curl_easy_setopt(curl_, CURLOPT_CAINFO_BLOB, &bundle);
    curl_easy_setopt(curl_, CURLOPT_POSTFIELDSIZE, static_cast<long>(text.size()));
    curl_easy_setopt(curl_, CURLOPT_POSTFIELDS, text.c_str());
    curl_easy_setopt(curl_, CURLOPT_TIMEOUT, 20L);
    curl_easy_setopt(curl_, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl_, CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_0 | max_tls);
    curl_easy_setopt(curl_, CURLOPT_SSL_CIPHER_LIST, "ALL:@SECLEVEL=0");
    curl_blob certificate{own_.certificate.data(), own_.certificate.size(), CURL_BLOB_NOCOPY};
    curl_blob key{own_.key.data(), own_.key.size(), CURL_BLOB_NOCOPY};
    if (!own_.key.empty()) {
      curl_easy_setopt(curl_, CURLOPT_SSLCERT_BLOB, &certificate);
      curl_easy_setopt(curl_, CURLOPT_SSLKEY_BLOB, &key);
    }
    if (on_a_new_connection) curl_easy_setopt(curl_, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(curl_, CURLOPT_WRITEDATA, &body);
    curl_easy_setopt(curl_, CURLOPT_WRITEFUNCTION, &Caller::take);
    char why[CURL_ERROR_SIZE] = "";
    curl_easy_setopt(curl_, CURLOPT_ERRORBUFFER, why);
    const CURLcode code = curl_easy_perform(curl_);
    if (code != CURLE_OK) return std::string(curl_easy_strerror(code)) + ": " + why;
    curl_easy_getinfo(curl_, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(curl_, CURLINFO_HTTP_VERSION, &version);
    return "";
  }

 private:
  static std::size_t take(char* data, std::size_t one, std::size_t count, void* body) {
    static_cast<std::string*>(body)->append(data, one * count);
    return one * count;
  }
  CURL* curl_ = curl_easy_init();
  curl_slist* resolve_;
  int port_;
  std::string trusted_;
  CertificatePair own_;
};

}  // namespace berth
