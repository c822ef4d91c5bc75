// SPDX-License-Identifier: Apache-2.0
// What may go on the wire, and the parts of a server's URL. Text only, no I/O.
#pragma once

#include <string>
#include <string_view>

#include "controller/io/transport.h"

namespace berth {

// No CR, LF, NUL or other control character but the tab.
bool is_header_value(std::string_view text);

// Why this request must not be sent (a line break in its target, say), or empty. What is sent goes
// on the wire as it is: this is where header injection ends.
std::string find_fault(const HttpRequest& request);

// "https://[fd00::1]:6443/prefix" in parts.
struct ServerAddress {
  std::string scheme;     // "https://"
  std::string authority;  // "[fd00::1]:6443", as written
  std::string host;       // "[fd00::1]"
  std::string port;       // "6443"; the scheme's own if none was written
  std::string path;       // "/prefix", or empty
};
ServerAddress split_server(std::string_view server);

bool is_loopback(std::string_view host);

}  // namespace berth
