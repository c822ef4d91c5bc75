// SPDX-License-Identifier: Apache-2.0
#include "controller/core/gzip.h"

#include <zlib.h>

#include "controller/core/bug.h"

namespace berth {

namespace {

constexpr int kGzipWindow = MAX_WBITS + 16;  // 16: with gzip's header and trailer

}  // namespace

std::string gzip(std::string_view text) {
  constexpr int kMemoryLevel = 8;  // zlib's own default
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindow, kMemoryLevel,
                   Z_DEFAULT_STRATEGY) != Z_OK)
    bug("zlib cannot begin");
  std::string out(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int ended = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  if (ended != Z_STREAM_END) bug("zlib needs more room than it said");
  return out;
}

std::optional<std::string> gunzip(std::string_view packed, std::size_t most) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipWindow) != Z_OK) bug("zlib cannot begin");
  std::string out(most, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int ended = inflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  if (ended != Z_STREAM_END) return std::nullopt;
  return out;
}

bool accepts_gzip(std::string_view accept_encoding) {
  const std::size_t at = accept_encoding.find("gzip");
  if (at == std::string_view::npos) return false;
  std::string_view rest = accept_encoding.substr(at + 4);
  rest = rest.substr(0, rest.find(','));
  return rest.find("q=0") == std::string_view::npos || rest.find("q=0.") != std::string_view::npos;
}

}  // namespace berth
