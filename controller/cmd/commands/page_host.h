// SPDX-License-Identifier: Apache-2.0
// PageHost: the page on a loopback port, and the messages about it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "apis/base/result.h"
#include "controller/cmd/line/flags.h"
#include "controller/live/uv_loop.h"
#include "controller/server/http_server.h"
#include "controller/server/page_site.h"

namespace berth {

Flag port_flag(int& port);
Result<void> validate_port(int port);

// Loop thread only; the loop must outlive it.
class PageHost {
 public:
  PageHost(UvLoop& loop, PageSite::Sources sources);
  // Prints the page's address.
  Result<void> open(int port);
  // See HttpServer::feed_in().
  void feed_in(std::chrono::nanoseconds wait) { server_.feed_in(wait); }

 private:
  PageSite site_;
  HttpServer server_;
};

// Serves one document until Ctrl-C. Returns the exit code.
int show_page(const std::string& program, const std::string& document, int port);

}  // namespace berth
