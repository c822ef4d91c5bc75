// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "controller/history/history_chunk.h"
#include "controller/history/history_query.h"
#include "tests/fuzz/checks.h"

namespace berth::test {
namespace {

std::string check_line(const HistoryLine& line) {
  const std::string written = encode_line(line);
  if (std::ranges::count(written, '\n') != 1) return "more than one line: " + written;
  const auto again = decode_line(std::string_view(written).substr(0, written.size() - 1));
  if (!again) return "written, and not read: " + written;
  if (encode_line(*again) != written) return "written as another: " + written;
  const HistoryQuery own{.kind = {}, .namespace_ = {}, .name = {}, .since = again->at};
  return matches(own, *again) && !format(*again).empty() ? "" : "not told: " + written;
}

}  // namespace

Verdict check_history(std::string_view text) {
  ConfigMap map;
  map.meta.name = config_map_of_chunk(8);
  const auto data = pack({8, std::string(text)});
  if (!data) return {.wrong = text.size() < kMaxChunkPacked / 2 ? "not packed" : ""};
  map.data = *data;
  const HistoryChunk chunk = unpack(map);
  if (chunk.seq != 8 || !chunk.text.starts_with(text)) return {.wrong = "packed, and not read"};
  const std::vector<HistoryLine> lines = lines_of({map});
  Verdict verdict{.wrong = {}, .read = !lines.empty()};
  for (const HistoryLine& line : lines)
    if (verdict.wrong.empty()) verdict.wrong = check_line(line);
  // A user's edit of the ConfigMap.
  map.data["lines.gz.base64"] = std::string(text);
  unpack(map);
  map.data["chunk"] = std::string(text);
  unpack(map);
  return verdict;
}

}  // namespace berth::test
