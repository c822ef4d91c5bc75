// SPDX-License-Identifier: Apache-2.0
// The hashes in the names of what berth renders, so that other content has another name.
#pragma once

#include <string>
#include <string_view>

namespace berth {

// 8 hex digits: FNV-1a of 64 bits, its halves folded together. It tells contents apart; it is no
// protection against forgery.
std::string content_hash(std::string_view content);

}  // namespace berth
