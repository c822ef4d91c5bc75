// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/input/input_text.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

namespace berth {
namespace {

Error cannot_read(const std::string& path, std::string why) {
  return Error{
      .kind = ErrorKind::kBadRequest, .message = std::move(why), .where = shown_path(path)};
}

struct Closer {
  void operator()(std::FILE* file) const {
    if (file != stdin) std::fclose(file);
  }
};

}  // namespace

std::string shown_path(const std::string& path) { return path == "-" ? "stdin" : path; }

Result<std::string> read_text(const std::string& path, std::size_t limit) {
  std::error_code ignored;
  if (path != "-" && std::filesystem::is_directory(path, ignored))
    return cannot_read(path, "is a folder");
  const std::unique_ptr<std::FILE, Closer> file(path == "-" ? stdin
                                                            : std::fopen(path.c_str(), "rb"));
  if (!file) return cannot_read(path, std::strerror(errno));
  std::string text;
  std::array<char, std::size_t{64} << 10> piece{};
  while (const std::size_t count = std::fread(piece.data(), 1, piece.size(), file.get())) {
    text.append(piece.data(), count);
    if (text.size() > limit)
      return cannot_read(path, fmt::format("is larger than {} MiB", limit >> 20));
  }
  if (std::ferror(file.get()) != 0)
    return cannot_read(path, std::string("could not be read to its end: ") + std::strerror(errno));
  return text;
}

}  // namespace berth
