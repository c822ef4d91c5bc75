// SPDX-License-Identifier: Apache-2.0
#include "controller/live/http_checks.h"

#include <algorithm>

namespace berth {
namespace {

bool all_of(std::string_view text, bool (*holds)(unsigned char)) {
  return std::all_of(text.begin(), text.end(),
                     [holds](char c) { return holds(static_cast<unsigned char>(c)); });
}

bool is_visible(unsigned char c) { return c > 0x20 && c < 0x7f; }

bool is_header_name(std::string_view text) {
  return !text.empty() && all_of(text, [](unsigned char c) {
    return is_visible(c) && std::string_view("\"(),/:;<=>?@[\\]{}").find(static_cast<char>(c)) ==
                                std::string_view::npos;
  });
}

}  // namespace

bool is_header_value(std::string_view text) {
  return all_of(text, [](unsigned char c) { return c == '\t' || (c >= 0x20 && c != 0x7f); });
}

std::string find_fault(const HttpRequest& request) {
  const bool method = !request.method.empty() &&
                      all_of(request.method, [](unsigned char c) { return c >= 'A' && c <= 'Z'; });
  if (!method) return "the request's method is not a word in capitals";
  if (!request.target.starts_with('/') || !all_of(request.target, is_visible) ||
      request.target.find('#') != std::string::npos) {
    return "the request's target is not an escaped path";
  }
  for (const HttpHeader& header : request.headers) {
    if (!is_header_name(header.name)) return "a request header's name is not a token";
    if (!is_header_value(header.value)) {
      return "the request header " + header.name + " holds a control character";
    }
  }
  return {};
}

ServerAddress split_server(std::string_view server) {
  ServerAddress out;
  const std::size_t start = server.find("://") + 3;
  const std::size_t slash = std::min(server.find('/', start), server.size());
  out.scheme = server.substr(0, start);
  out.authority = server.substr(start, slash - start);
  out.path = server.substr(slash);
  const std::size_t bracket = out.authority.find(']');
  const std::size_t colon = out.authority.find(':', bracket == std::string::npos ? 0 : bracket);
  out.host = out.authority.substr(0, colon);
  out.port = colon == std::string::npos ? "" : out.authority.substr(colon + 1);
  if (out.port.empty()) out.port = out.scheme == "https://" ? "443" : "80";
  return out;
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host.starts_with("127.") || host == "[::1]";
}

}  // namespace berth
