// SPDX-License-Identifier: Apache-2.0
// What must hold whatever a client says to the server; for the fuzzer (fuzzer.cc).
#pragma once

#include <string>
#include <string_view>

namespace berth::test {

// The first byte: HTTP/1.1 if it is even, else HTTP/2, whose preface has been said; the second: in
// pieces of how many bytes the rest is said. Empty, or what is wrong: an answer that is none, a
// request that depends on the pieces, a body beyond its limit, or room that was not given back.
std::string check_http(std::string_view input);

}  // namespace berth::test
