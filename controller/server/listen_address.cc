// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "controller/server/http_server.h"

namespace berth {

Result<ListenAddress> parse_listen_address(const std::string& flag, const std::string& text) {
  const auto bad = [&](std::string why) {
    return invalid_spec(flag, "\"" + text + "\" " + std::move(why) +
                                  R"(; write ":8080", "127.0.0.1:8080", "[::1]:8080" or "0")");
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return bad("has no port");
  ListenAddress address{.host = text.substr(0, colon)};
  if (address.host.starts_with('[') && address.host.ends_with(']'))
    address.host = address.host.substr(1, address.host.size() - 2);
  else if (address.host.find(':') != std::string::npos)
    return bad("is ambiguous: an IPv6 address goes in brackets");
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, address.port);
  if (error != std::errc() || stop != end || address.port < 0 || address.port > 65535)
    return bad("has no port between 0 and 65535");
  return address;
}

}  // namespace berth
