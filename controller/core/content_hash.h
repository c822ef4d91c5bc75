// SPDX-License-Identifier: Apache-2.0
// ContentHash: hashes for the names of objects that berth renders: other content gets another name.
#pragma once

#include <string>
#include <string_view>

namespace berth {

// 8 hex digits: 64-bit FNV-1a, with its halves combined. It distinguishes contents; it doesn't
// protect against forgery.
std::string content_hash(std::string_view content);

}  // namespace berth
