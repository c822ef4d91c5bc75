// SPDX-License-Identifier: Apache-2.0
// InputText: reads a command's input with a size limit, so that an endless device or pipe costs no
// more memory than the largest allowed file.
#pragma once

#include <cstddef>
#include <string>

#include "apis/base/result.h"

namespace berth {

// For one manifest or scenario; parse_manifest() has the same limit.
inline constexpr std::size_t kMaxManifestBytes = std::size_t{16} << 20;
// For a saved cluster: fifty thousand pods take about a tenth of it.
inline constexpr std::size_t kMaxSnapshotBytes = std::size_t{512} << 20;

// Reads a whole file, or standard input for "-". Errors name it.
Result<std::string> read_text(const std::string& path, std::size_t limit = kMaxManifestBytes);

// "stdin" for "-".
std::string shown_path(const std::string& path);

}  // namespace berth
