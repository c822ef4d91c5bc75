// SPDX-License-Identifier: Apache-2.0
#include "controller/server/http_service.h"

#include <utility>

namespace berth {

std::optional<HttpResponse> HttpService::admit(std::string_view method,
                                               std::optional<std::uint64_t> length,
                                               std::function<void()> on_lost,
                                               std::unique_ptr<PostRoom::Place>& place) const {
  if (method == "GET" || method == "HEAD")
    return length.value_or(0) == 0 ? std::nullopt : std::optional(refusal(400));
  if (method != "POST" || max_body_bytes == 0) return refusal(405);
  if (!length) return refusal(411);
  if (*length > max_body_bytes) return refusal(413);
  place = room.take(*length, std::move(on_lost));
  return std::nullopt;
}

bool HttpService::stands_still(std::uint64_t since_ms, std::uint64_t now_ms) const {
  return now_ms > since_ms + 1000ull * static_cast<unsigned>(limits.still_seconds);
}

HttpResponse HttpService::refusal(int status) const {
  const auto why = [&]() -> std::string {
    switch (status) {
      case 405:
        return max_body_bytes > 0 ? "use GET, HEAD or POST here" : "use GET or HEAD here";
      case 408:
        return "for " + std::to_string(limits.still_seconds) + " s no more bytes of it arrived";
      case 411:
        return "a body needs a Content-Length";
      case 413:
        return "a body may have " + std::to_string(max_body_bytes) + " bytes";
      case 429:
        return "too many requests are in progress at once, and this one is the oldest; try again";
      case 431:
        return "a request's head may have " + std::to_string(limits.header_bytes) + " bytes";
      case 501:
        return "a body comes as it is, and no other Transfer-Encoding is understood";
      default:
        return "this is not an HTTP request that this server can answer";
    }
  };
  return {.status = status, .body = why() + "\n"};
}

void set_target(HttpCall& call, std::string_view target) {
  const std::size_t mark = target.find('?');
  call.path = target.substr(0, mark);
  if (mark != std::string_view::npos) call.query = target.substr(mark + 1);
}

}  // namespace berth
