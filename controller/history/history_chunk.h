// SPDX-License-Identifier: Apache-2.0
// HistoryChunk: the part of the history that one ConfigMap stores. berth uses kHistoryChunks of
// them in turn: chunk 9 overwrites chunk 1. The stored history is therefore bounded, the oldest
// part is dropped first, and a write sends only one part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/kinds/core.h"
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
// The name for chunk 9 is "berth-history-1".
std::string config_map_of_chunk(std::int64_t seq);
std::vector<std::string> history_config_maps();

// The ConfigMap's data: gzip in base64, which `base64 -d
// gunzip` reads. nullopt: it would be too large.
std::optional<std::map<std::string, std::string>> pack(const HistoryChunk& chunk);
// A chunk with seq 0 if the data can't be read, for example because a user edited it.
HistoryChunk unpack(const ConfigMap& config_map);

// The lines that the text `standing` does not contain.
std::string lines_beside(std::string_view lines, std::string_view standing);
// The lines of all readable chunks, the oldest first.
std::vector<HistoryLine> lines_of(const std::vector<ConfigMap>& config_maps);

}  // namespace berth
