// SPDX-License-Identifier: Apache-2.0
// HttpGet: one GET of what is no API server, over a Transport. Loop thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "apis/result.h"
#include "controller/io/client_config.h"
#include "controller/io/task.h"
#include "controller/io/transport.h"

namespace berth {

// To any server; the real one is a CurlTransport.
using Connect = std::function<std::unique_ptr<Transport>(ClientConfig config)>;

struct GetRequest {
  std::string target;
  std::vector<HttpHeader> headers;
  std::chrono::milliseconds deadline{20'000};
  std::size_t max_bytes = 1u << 20;
};

// Bytes of a good reply go to `on_bytes` as they come; of a bad one nothing but its status is kept,
// for whoever reads of it may not be allowed to read what answered. `on_bytes` must live until the
// task has ended, as must the transport. The error's kind tells who is at fault: kUnauthorized and
// kForbidden, kUnavailable and kTimeout, kDecode for one that is too large, kServer for every other
// reply.
Task<Result<void>> http_get(Loop& loop, Transport& transport, GetRequest request,
                            std::function<void(std::string_view)> on_bytes, std::stop_token stop);

}  // namespace berth
