// SPDX-License-Identifier: Apache-2.0
// Base64: the standard alphabet with padding. The decoder also accepts the line breaks of
// kubeconfig files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth {

// nullopt if the text is not base64.
std::optional<std::string> decode_base64(std::string_view text);
std::string encode_base64(std::string_view bytes);

}  // namespace berth
