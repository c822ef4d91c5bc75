// SPDX-License-Identifier: Apache-2.0
#include "controller/client/server_url.h"

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace berth {
namespace {

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

bool has_odd_characters(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](unsigned char c) { return c <= 0x20 || c >= 0x7f || c == '\\'; });
}

// "host", "host:port" or "[v6]:port" of a URL.
std::string_view authority_of(std::string_view url) {
  url.remove_prefix(url.find("://") + 3);
  return url.substr(0, url.find('/'));
}

std::string_view host_of(std::string_view authority) {
  if (authority.starts_with('[')) return authority.substr(0, authority.find(']') + 1);
  return authority.substr(0, authority.find(':'));
}

}  // namespace

Result<std::string> check_server_url(const std::string& where, const std::string& url) {
  if (url.empty()) return invalid_spec(where, "is missing: write https://HOST:PORT");
  if (has_odd_characters(url) || url.find_first_of("?#@") != std::string::npos ||
      !starts_with_any(url, {"https://", "http://"})) {
    // Does not repeat the URL: it may contain a password.
    return invalid_spec(where, "is not a server: write https://HOST:PORT");
  }
  const std::string_view host = host_of(authority_of(url));
  if (host.empty()) return invalid_spec(where, "\"" + url + "\" names no host");
  const bool here = host == "localhost" || host == "127.0.0.1" || host == "[::1]";
  if (url.starts_with("http://") && !here) {
    return invalid_spec(where,
                        "\"" + url +
                            "\" would send credentials in the clear: write https:// (http:// "
                            "is for localhost only)");
  }
  std::string trimmed = url;
  while (trimmed.ends_with('/')) trimmed.pop_back();
  return trimmed;
}

Result<void> check_proxy_url(const std::string& where, const std::string& url) {
  if (url.empty()) return {};
  if (has_odd_characters(url) ||
      !starts_with_any(url, {"http://", "https://", "socks5://", "socks5h://"}) ||
      host_of(authority_of(url)).empty()) {
    // Does not repeat the URL: it may contain a password.
    return invalid_spec(where, "is not a proxy: write http://, https:// or socks5://HOST:PORT");
  }
  return {};
}

}  // namespace berth
