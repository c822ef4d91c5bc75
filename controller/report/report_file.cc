// SPDX-License-Identifier: Apache-2.0
// The format is POSIX ustar: a header of 512 bytes for each file, then its text, padded to 512.
#include "controller/report/report_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "controller/core/gzip.h"

namespace berth {
namespace {

constexpr std::size_t kBlock = 512;

struct Field {
  std::size_t at;
  std::size_t size;
};
constexpr Field kName{0, 100}, kMode{100, 8}, kUid{108, 8}, kGid{116, 8}, kSize{124, 12},
    kTime{136, 12}, kSum{148, 8}, kMagic{257, 8}, kPrefix{345, 155};

void put(std::string& header, Field field, std::string_view text) {
  header.replace(field.at, std::min(text.size(), field.size),
                 text.substr(0, std::min(text.size(), field.size)));
}

// A zero byte follows the digits.
std::string octal(std::uint64_t number, Field field) {
  return fmt::format("{:0{}o}", number, field.size - 1);
}

// If a path is too long for the name field, its folders go into the prefix field.
void put_path(std::string& header, const std::string& path) {
  std::size_t slash = 0;
  if (path.size() > kName.size) slash = path.find('/', path.size() - kName.size - 1);
  if (slash == path.npos) slash = 0;
  if (slash > 0) put(header, kPrefix, path.substr(0, slash));
  put(header, kName, path.substr(slash == 0 ? 0 : slash + 1));
}

std::string header_of(const ReportFile& file, Time at) {
  std::string header(kBlock, '\0');
  put_path(header, file.path);
  put(header, kMode, octal(0644, kMode));
  put(header, kUid, octal(0, kUid));
  put(header, kGid, octal(0, kGid));
  put(header, kSize, octal(file.text.size(), kSize));
  const auto seconds = std::chrono::floor<std::chrono::seconds>(at).time_since_epoch().count();
  put(header, kTime, octal(static_cast<std::uint64_t>(std::max<std::int64_t>(seconds, 0)), kTime));
  header[156] = '0';  // a plain file
  put(header, kMagic, std::string_view("ustar\00000", 8));
  put(header, kSum, "        ");
  std::uint64_t sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(header, kSum, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return header;
}

}  // namespace

std::string pack_report(const std::vector<ReportFile>& files, Time at) {
  std::string tar;
  for (const ReportFile& file : files) {
    tar += header_of(file, at);
    tar += file.text;
    tar.append((kBlock - file.text.size() % kBlock) % kBlock, '\0');
  }
  tar.append(2 * kBlock, '\0');
  return gzip(tar);
}

}  // namespace berth
