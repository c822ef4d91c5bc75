// SPDX-License-Identifier: Apache-2.0
// ServerUrl: which URLs a configuration may name as a server or a proxy. berth sends credentials
// there, so the rules are strict: TLS except to the local machine, and no credentials in the URL.
#pragma once

#include <string>

#include "apis/base/result.h"

namespace berth {

// Returns the URL without a trailing slash. `where` names the field in errors.
Result<std::string> check_server_url(const std::string& where, const std::string& url);
// Accepts http, https, socks5, socks5h, and the empty string.
Result<void> check_proxy_url(const std::string& where, const std::string& url);

}  // namespace berth
