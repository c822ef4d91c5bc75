// SPDX-License-Identifier: Apache-2.0
// Checks of requests before they are sent, and the parts of a server's URL. Text only, no I/O.
#pragma once

#include <string>
#include <string_view>

#include "controller/io/transport.h"

namespace berth {

// True: no CR, LF, NUL or other control character except tabs.
bool is_header_value(std::string_view text);

// Why this request must not be sent (for example a line break in its target), or empty. Requests
// are sent unescaped, so this check prevents header injection.
std::string find_fault(const HttpRequest& request);

// The parts of "https://[fd00::1]:6443/prefix".
struct ServerAddress {
  std::string scheme;     // "https://"
  std::string authority;  // "[fd00::1]:6443", as written
  std::string host;       // "[fd00::1]"
  std::string port;       // "6443"; if missing, the scheme's default
  std::string path;       // "/prefix", or empty
};
ServerAddress split_server(std::string_view server);

bool is_loopback(std::string_view host);

}  // namespace berth
