// SPDX-License-Identifier: Apache-2.0
// Reply: the result of a successful call, and functions that read the HTTP parts of a reply.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/base/result.h"
#include "apis/codec/encoding.h"
#include "controller/io/transport.h"

namespace berth {

// Only for success (2xx). All else is an Error with the server's reason, causes and Retry-After.
struct Reply {
  int http_code = 0;
  std::string body;
  std::string resource_version;       // the object's metadata.resourceVersion; empty if it has none
  std::vector<std::string> warnings;  // texts of the Warning headers, without duplicates
};

// The server is older than the resourceVersion of a LIST or a watch, or was restored from a backup.
bool is_version_too_large(const Error& error);

// The value of the first header with this name; case is ignored.
std::optional<std::string_view> find_header(const std::vector<HttpHeader>& headers,
                                            std::string_view name);

// From the Content-Type; JSON if there is none.
Encoding encoding_of(const std::vector<HttpHeader>& headers);

// metadata.resourceVersion of one object's JSON, without building a document; empty if absent.
std::string scan_resource_version(std::string_view json);

// The texts of `Warning: 299 - "…"` headers, in order, without duplicates.
std::vector<std::string> parse_warnings(const std::vector<HttpHeader>& headers);

// Retry-After in seconds. It ignores the form with a date, which API servers do not send.
std::optional<std::chrono::seconds> parse_retry_after(const std::vector<HttpHeader>& headers);

}  // namespace berth
