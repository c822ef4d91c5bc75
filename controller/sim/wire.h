// SPDX-License-Identifier: Apache-2.0
// Wire: one process' connection to the simulated API server, a Transport. Requests and replies take
// a little time, drawn from the seed; bytes are split anywhere. What goes wrong is told by
// WireFaults, exchange by exchange and watch frame by watch frame.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "controller/io/transport.h"
#include "controller/sim/api_server.h"
#include "controller/sim/random.h"
#include "controller/sim/virtual_loop.h"

namespace berth::sim {

// What becomes of one exchange that is no watch.
enum class ExchangeFate {
  kAnswered,
  kNotSent,      // the connection broke before anything left: kBroken, nothing applied
  kReplyLost,    // applied, and the connection broke before the reply: kBroken
  kAppliedLate,  // kBroken at once; the request is on its way all the same and lands seconds later
  kRefused,      // answered with `code` and a Status instead of being looked at
};

struct ExchangeFault {
  ExchangeFate fate = ExchangeFate::kAnswered;
  int code = 0;                       // of kRefused: 403, 429, 500, 503, 504
  int retry_after_s = 0;              // of kRefused; 0: no such header
  std::chrono::nanoseconds delay{0};  // added to the way there, or until it lands (kAppliedLate)
};

// What becomes of one frame of a watch, and of the stream with it.
enum class FrameFate {
  kDelivered,
  kDelayed,  // it and everything behind it comes later
  // The stream breaks before the frame, and history is compacted: the watcher must list again and
  // never sees the change itself, only where things then stand.
  kLost,
};
struct FrameFault {
  FrameFate fate = FrameFate::kDelivered;
  std::chrono::nanoseconds delay{0};
};

// Hooks; each may be empty. They are called at the moments they name and may stop the process.
struct WireFaults {
  // The process has handed a request over; nothing has left.
  std::function<ExchangeFault(const HttpRequest&)> on_request;
  // The server has applied and answered it; the reply has not arrived.
  std::function<void(const HttpRequest&, int code)> on_applied;
  // The reply has arrived and is the next thing the process hears.
  std::function<void(const HttpRequest&, int code)> on_reply;
  std::function<FrameFault(const Change&)> on_frame;
};

class Wire : public Transport {
 public:
  // `network` is the world's loop: what is under way moves on though the process is frozen.
  Wire(VirtualLoop& process, VirtualLoop& network, ApiServer& server, std::string user,
       Random random);
  ~Wire() override;

  void start(HttpRequest request, std::shared_ptr<ResponseSink> sink,
             std::stop_token stop) override;

  // The process is gone, or its cable is cut: nothing leaves any more and whatever waits hears
  // kBroken. What had left goes on to the server.
  void cut();
  // Ends every open watch as a server's restart would.
  void end_watches();
  // Every frame from now on takes this much longer: an API server whose cache lags.
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
