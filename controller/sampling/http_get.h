// SPDX-License-Identifier: Apache-2.0
// HttpGet: one GET from a server that is not an API server, over a Transport. Loop thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/result.h"
#include "controller/io/client_config.h"
#include "controller/io/task.h"
#include "controller/io/transport.h"

namespace berth {

// Connects to any server; in production it makes a CurlTransport.
using Connect = std::function<std::unique_ptr<Transport>(ClientConfig config)>;

struct GetRequest {
  std::string target;
  std::vector<HttpHeader> headers;
  std::chrono::milliseconds deadline{20'000};
  std::size_t max_bytes = 1u << 20;
};

// Passes the body of a good reply to `on_bytes` as it arrives. It keeps only the status of
// a failed reply: users who read the error may have no right to read that server's text. `on_bytes`
// and the transport must live until the task has ended. The error's kind shows the cause:
// kUnauthorized and kForbidden, kUnavailable and kTimeout, kDecode for a body that is too large,
// kServer for any other reply.
Task<Result<void>> http_get(Loop& loop, Transport& transport, GetRequest request,
                            std::function<void(std::string_view)> on_bytes, std::stop_token stop);

}  // namespace berth
