// SPDX-License-Identifier: Apache-2.0
// What must hold of the answer to any body that the webhook may be sent; for the mutation test, and
// for the fuzzer (fuzzer.cc).
#pragma once

#include <string>
#include <string_view>

namespace berth::test {

// Empty, or what is wrong: an answer that is no JSON, or is huge, a verdict about what is no JSON,
// a patch that can't be applied, or one that is not all there is to do.
std::string check_review(std::string_view body);

}  // namespace berth::test
