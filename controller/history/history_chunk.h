// SPDX-License-Identifier: Apache-2.0
// HistoryChunk: one ConfigMap's part of the history. There are kHistoryChunks of them, used in
// turn: chunk 9 stands where chunk 1 stood. So what is kept is bounded, the oldest goes first, and
// a write sends one part alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/core.h"
#include "controller/history/history_line.h"

namespace berth {

inline constexpr std::int64_t kHistoryChunks = 8;
// The most bytes of a chunk's lines, as text in memory and packed in its ConfigMap. Eight packed
// chunks take less than 1 MiB.
inline constexpr std::size_t kMaxChunkText = 256 * 1024;
inline constexpr std::size_t kMaxChunkPacked = 120 * 1024;

struct HistoryChunk {
  std::int64_t seq = 0;  // from 1; 0: none yet
  std::string text;      // of encode_line(), the oldest first
};
// "berth-history-1", of chunk 9.
std::string config_map_of_chunk(std::int64_t seq);
std::vector<std::string> history_config_maps();

// The ConfigMap's data: gzip in base64, which `base64 -d | gunzip` reads; nothing if it would be
// too large.
std::optional<std::map<std::string, std::string>> pack(const HistoryChunk& chunk);
// A chunk with seq 0 where it can't be read: a person may have edited it.
HistoryChunk unpack(const ConfigMap& config_map);

// Without those lines that stand in the other text.
std::string lines_beside(std::string_view lines, std::string_view standing);
// Of all chunks that can be read, the oldest first.
std::vector<HistoryLine> lines_of(const std::vector<ConfigMap>& config_maps);

}  // namespace berth
