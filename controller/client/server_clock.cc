// SPDX-License-Identifier: Apache-2.0
#include "controller/client/server_clock.h"

#include <date/date.h>

#include <chrono>
#include <sstream>
#include <string>

namespace berth {
namespace {

// The only HTTP date format in use: "Sat, 28 Nov 2026 09:09:45 GMT".
constexpr char kHttpDate[] = "%a, %d %b %Y %T GMT";
constexpr MonotonicTime kDateLasts = std::chrono::seconds(1);  // the date has whole seconds

Time advance(Time time, MonotonicTime by) {
  return time + std::chrono::floor<std::chrono::microseconds>(by);
}

}  // namespace

void ServerClock::hear(std::string_view date) {
  const MonotonicTime at = loop_.now();
  if (server_ && at - server_->at < kDateLasts) return;
  std::istringstream text{std::string(date)};
  text.imbue(std::locale::classic());
  std::chrono::sys_seconds time;
  text >> date::parse(kHttpDate, time);
  if (!text.fail()) server_ = Moment{at, advance(Time(time), kDateLasts / 2)};
}

std::optional<Duration> ServerClock::skew() const {
  if (!server_) return std::nullopt;
  const Time there = advance(server_->time, loop_.now() - server_->at);
  return std::chrono::round<Duration>(loop_.wall_now() - there);
}

Time ServerClock::now() {
  const Moment own{loop_.now(), loop_.wall_now()};
  const std::optional<Duration> off = skew();
  if (!off) return own.time;
  if (std::chrono::abs(*off) <= tolerance_) {
    agreed_ = own;
    return own.time;
  }
  const Moment& from = agreed_ ? *agreed_ : *server_;
  return advance(from.time, own.at - from.at);
}

}  // namespace berth
