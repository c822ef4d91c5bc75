// SPDX-License-Identifier: Apache-2.0
// PageHost: the page on a port of loopback, and what a command says of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "apis/result.h"
#include "controller/cmd/flags.h"
#include "controller/live/uv_loop.h"
#include "controller/server/http_server.h"
#include "controller/server/page_site.h"

namespace berth {

Flag port_flag(int& port);
Result<void> validate_port(int port);

// Loop thread only; the loop outlives it.
class PageHost {
 public:
  PageHost(UvLoop& loop, PageSite::Sources sources);
  // Prints where the page is.
  Result<void> open(int port);
  // As of HttpServer.
  void feed_in(std::chrono::nanoseconds wait) { server_.feed_in(wait); }

 private:
  PageSite site_;
  HttpServer server_;
};

// One document, until somebody presses Ctrl-C. The exit code.
int show_page(const std::string& program, const std::string& document, int port);

}  // namespace berth
