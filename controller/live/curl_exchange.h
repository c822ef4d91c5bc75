// SPDX-License-Identifier: Apache-2.0
// CurlExchange: one request and its reply as a curl easy handle. It posts all calls of the sink, in
// order; on_end is the last one.
#pragma once

#include <curl/curl.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "controller/io/client_config.h"
#include "controller/io/transport.h"
#include "controller/live/credentials.h"
#include "controller/live/curl_lane.h"

namespace berth {

class CurlExchange : public std::enable_shared_from_this<CurlExchange> {
 public:
  // Shared by all exchanges, and outlives them.
  struct Shared {
    UvLoop& loop;
    const ClientConfig& config;
    Credentials& credentials;
    std::function<void(const std::shared_ptr<CurlExchange>&, TransportOutcome)> on_finished;
  };
  CurlExchange(Shared& shared, HttpRequest request, std::shared_ptr<ResponseSink> sink);
  ~CurlExchange();
  CurlExchange(const CurlExchange&) = delete;
  CurlExchange& operator=(const CurlExchange&) = delete;

  // Posted, never called from a curl callback. If `stop` was requested before, the exchange ends
  // here.
  void begin(std::shared_ptr<CurlLane> lane, std::stop_token stop);
  Lane lane_kind() const { return request_.lane; }
  const std::shared_ptr<CurlLane>& lane() const { return lane_; }
  bool heard_anything() const { return last_heard_ > started_; }
  // For the transport's destructor: ends the exchange without a call of the sink.
  void abandon();

 private:
  static std::size_t on_header(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* data, std::size_t size, std::size_t count, void* self);
  static std::size_t on_read(char* data, std::size_t size, std::size_t count, void* self);
  static int on_seek(void* self, curl_off_t offset, int origin);
  static int on_socket_made(void* self, curl_socket_t socket, curlsocktype purpose);

  void log_in();
  void launch();
  void set_request();
  void set_server();
  void set_tls();
  void take_header_line(std::string_view line);
  void head_is_complete();
  void transferred(CURLcode result);
  void check_idle();
  void finish(TransportOutcome outcome, std::string detail);
  std::string describe_failure(CURLcode result) const;

  Shared& shared_;
  HttpRequest request_;
  std::shared_ptr<ResponseSink> sink_;  // null once on_end has been posted
  std::shared_ptr<CurlLane> lane_;
  CURL* easy_ = nullptr;
  curl_slist* headers_ = nullptr;
  curl_slist* connect_to_ = nullptr;
  char curl_says_[CURL_ERROR_SIZE] = {};

  std::optional<std::stop_callback<std::function<void()>>> stop_link_;
  Loop::TimerId deadline_ = 0;
  Loop::TimerId idle_ = 0;
  MonotonicTime started_{0};
  MonotonicTime last_heard_{0};

  std::size_t body_sent_ = 0;
  int status_ = 0;
  std::vector<HttpHeader> reply_headers_;
  std::size_t header_bytes_ = 0;
  std::size_t body_bytes_ = 0;
  bool head_done_ = false;
  bool too_large_ = false;
  bool retry_with_new_token_ = false;
  bool retried_ = false;
  std::uint64_t login_ = 0;  // the credential that this was sent with
};

}  // namespace berth
