// SPDX-License-Identifier: Apache-2.0
#include "controller/history/history_chunk.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "apis/base/base64.h"
#include "apis/base/names.h"
#include "controller/core/gzip.h"
#include "controller/core/ledger_epoch.h"

namespace berth {
namespace {

constexpr char kSeq[] = "chunk";
constexpr char kLines[] = "lines.gz.base64";

template <class See>
void each_line(std::string_view text, See&& see) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    see(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

std::string config_map_of_chunk(std::int64_t seq) {
  return fmt::format("{}{}", names::kHistoryConfigMapPrefix, seq % kHistoryChunks);
}

std::vector<std::string> history_config_maps() {
  std::vector<std::string> names;
  for (std::int64_t i = 0; i < kHistoryChunks; ++i) names.push_back(config_map_of_chunk(i));
  return names;
}

std::optional<std::map<std::string, std::string>> pack(const HistoryChunk& chunk) {
  std::string packed = encode_base64(gzip(chunk.text));
  if (packed.size() > kMaxChunkPacked) return std::nullopt;
  return std::map<std::string, std::string>{{kSeq, std::to_string(chunk.seq)},
                                            {kLines, std::move(packed)}};
}

HistoryChunk unpack(const ConfigMap& config_map) {
  const auto seq_text = config_map.data.find(kSeq);
  const auto lines = config_map.data.find(kLines);
  if (seq_text == config_map.data.end() || lines == config_map.data.end()) return {};
  HistoryChunk chunk;
  const std::string& digits = seq_text->second;
  std::from_chars(digits.data(), digits.data() + digits.size(), chunk.seq);
  const auto bytes = decode_base64(lines->second);
  auto text = bytes ? gunzip(*bytes, 2 * kMaxChunkText) : std::nullopt;
  // A chunk under another chunk's name is refused: it would shift the turns of all chunks.
  const bool in_place = chunk.seq > 0 && chunk.seq < kMaxCounter &&
                        config_map.meta.name == config_map_of_chunk(chunk.seq);
  if (!text || !in_place) return {};
  chunk.text = *std::move(text);
  if (!chunk.text.empty() && chunk.text.back() != '\n') chunk.text += '\n';
  return chunk;
}

std::string lines_beside(std::string_view lines, std::string_view standing) {
  std::set<std::string_view> there;
  each_line(standing, [&](std::string_view line) { there.insert(line); });
  std::string rest;
  each_line(lines, [&](std::string_view line) {
    if (!there.contains(line)) (rest += line) += '\n';
  });
  return rest;
}

std::vector<HistoryLine> lines_of(const std::vector<ConfigMap>& config_maps) {
  std::map<std::int64_t, std::string> chunks;
  for (const ConfigMap& config_map : config_maps)
    if (HistoryChunk chunk = unpack(config_map); chunk.seq > 0)
      chunks[chunk.seq] = std::move(chunk.text);
  std::vector<HistoryLine> lines;
  for (const auto& [seq, text] : chunks)
    each_line(text, [&](std::string_view line) {
      if (auto read = decode_line(line)) lines.push_back(*std::move(read));
    });
  return lines;
}

}  // namespace berth
