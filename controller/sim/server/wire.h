// SPDX-License-Identifier: Apache-2.0
// Wire: one process's connection to the simulated API server, as a Transport. Requests and replies
// take a little time, drawn from the seed, and bytes may be split anywhere. WireFaults decides the
// faults of each exchange and each watch frame.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "controller/io/transport.h"
#include "controller/sim/server/api_server.h"
#include "controller/sim/world/random.h"
#include "controller/sim/world/virtual_loop.h"

namespace berth::sim {

// The result of one exchange that is no watch.
enum class ExchangeFate {
  kAnswered,
  kNotSent,      // the connection broke before the request left: kBroken, nothing applied
  kReplyLost,    // applied, but the connection broke before the reply: kBroken
  kAppliedLate,  // kBroken at once, but the request still arrives seconds later
  kRefused,      // answered with `code` and a Status without being processed
};

struct ExchangeFault {
  ExchangeFate fate = ExchangeFate::kAnswered;
  int code = 0;           // for kRefused: 403, 429, 500, 503, 504
  int retry_after_s = 0;  // for kRefused; 0: no such header
  // added before the server, or until the late arrival (kAppliedLate)
  std::chrono::nanoseconds delay{0};
};

// The result of one watch frame, and of its stream.
enum class FrameFate {
  kDelivered,
  kDelayed,  // it and all later frames are delayed
  // The stream breaks before the frame, and history is compacted. The watcher must list again and
  // never sees the change itself, only the state after it.
  kLost,
};
struct FrameFault {
  FrameFate fate = FrameFate::kDelivered;
  std::chrono::nanoseconds delay{0};
};

// Hooks; each may be empty. They are called at the named moments and may stop the process.
struct WireFaults {
  // The process has passed on a request; it has not left yet.
  std::function<ExchangeFault(const HttpRequest&)> on_request;
  // The server has applied and answered the request; the reply has not arrived.
  std::function<void(const HttpRequest&, int code)> on_applied;
  // The reply has arrived; the process gets it next.
  std::function<void(const HttpRequest&, int code)> on_reply;
  std::function<FrameFault(const Change&)> on_frame;
};

class Wire : public Transport {
 public:
  // `network` is the world's loop: messages in flight continue while the process is frozen.
  Wire(VirtualLoop& process, VirtualLoop& network, ApiServer& server, std::string user,
       Random random);
  ~Wire() override;

  void start(HttpRequest request, std::shared_ptr<ResponseSink> sink,
             std::stop_token stop) override;

  // The process is gone or disconnected: no request leaves any more, and waiting requests get
  // kBroken. Requests that have left still reach the server.
  void cut();
  // Ends every open watch, as a restart of the server would.
  void end_watches();
  // Delays every frame from now on, like an API server whose cache lags.
  void lag(std::chrono::nanoseconds by) { lag_ = by; }

  WireFaults faults;

 private:
  struct Exchange;
  struct Stream;
  void send(const std::shared_ptr<Exchange>& exchange, const ExchangeFault& fault);
  void open(const std::shared_ptr<Stream>& stream, const ExchangeFault& fault);
  void on_frame(Stream& stream, std::string frame, const Change* change);
  std::chrono::nanoseconds one_way();

  VirtualLoop& process_;
  VirtualLoop& network_;
  ApiServer& server_;
  const std::string user_;
  Random random_;
  std::chrono::nanoseconds lag_{0};
  bool cut_ = false;
  std::vector<std::weak_ptr<Exchange>> exchanges_;
};

}  // namespace berth::sim
