// SPDX-License-Identifier: Apache-2.0
// Base64: the standard alphabet, padded. Read as kubeconfig files carry it, with line breaks
// allowed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace berth {

// Nothing if the text is not base64.
std::optional<std::string> decode_base64(std::string_view text);
std::string encode_base64(std::string_view bytes);

}  // namespace berth
