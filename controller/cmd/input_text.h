// SPDX-License-Identifier: Apache-2.0
// InputText: what a command is given to read, counted while it is read: a device or a pipe without
// an end costs no more memory than the largest file that is taken.
#pragma once

#include <cstddef>
#include <string>

#include "apis/result.h"

namespace berth {

// Of one manifest or scenario; parse_manifest() takes no more either.
inline constexpr std::size_t kMaxManifestBytes = std::size_t{16} << 20;
// Of a saved cluster: fifty thousand pods take about a tenth of it.
inline constexpr std::size_t kMaxSnapshotBytes = std::size_t{512} << 20;

// A whole file, or standard input for "-". Errors name it.
Result<std::string> read_text(const std::string& path, std::size_t limit = kMaxManifestBytes);

// "stdin" for "-".
std::string shown_path(const std::string& path);

}  // namespace berth
