// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/commands/page_host.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <utility>

#include "controller/cmd/line/console.h"

namespace berth {
namespace {

constexpr char kLoopback[] = "127.0.0.1";
// Browsers send cookies of all other services on this machine.
constexpr HttpServerLimits kLimits{.connections = 1024, .header_bytes = 32 << 10};

}  // namespace

Flag port_flag(int& port) {
  return count_flag("--port", port, "of 127.0.0.1, where the page is served; 0: any that is free");
}

Result<void> validate_port(int port) {
  if (port < 0 || port > 65535)
    return invalid_spec("--port", fmt::format("{} is none; write 0 to 65535", port));
  return {};
}

PageHost::PageHost(UvLoop& loop, PageSite::Sources sources)
    : site_(std::move(sources)), server_(loop.raw(), kLimits) {}

Result<void> PageHost::open(int port) {
  const Result<int> got = server_.listen(
      {kLoopback, port}, [this](const HttpCall& call) { return site_.answer(call); });
  if (!got) return got.error();
  put_line(fmt::format("The page is at http://{}:{}/ui/ (Ctrl-C ends it)", kLoopback, *got));
  std::fflush(stdout);
  return {};
}

int show_page(const std::string& program, const std::string& document, int port) {
  UvLoop loop;
  const PageDocument shown{.id = "still", .json = document};
  PageHost host(loop, {.document = [&] { return &shown; }, .follow = nullptr, .why = nullptr});
  if (const Result<void> opened = host.open(port); !opened)
    return complain(program, opened.error());
  for (const int signal : {SIGTERM, SIGINT}) loop.on_signal(signal, [&loop] { loop.stop(); });
  loop.run();
  return 0;
}

}  // namespace berth
