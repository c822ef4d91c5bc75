// SPDX-License-Identifier: Apache-2.0
// What may stand as a server or a proxy in a configuration. Credentials go there, so the rules are
// narrow: TLS except to this very machine, and nothing hidden in the URL.
#pragma once

#include <string>

#include "apis/result.h"

namespace berth {

// The URL without a slash at its end. `where` names the field in errors.
Result<std::string> check_server_url(const std::string& where, const std::string& url);
// http, https, socks5 or socks5h; empty is fine.
Result<void> check_proxy_url(const std::string& where, const std::string& url);

}  // namespace berth
