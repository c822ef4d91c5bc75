// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/input/manifest_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "controller/cmd/input/input_text.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

// For all files, which are in memory together.
constexpr std::size_t kMaxBytes = 4 * kMaxManifestBytes;

Error cannot_read(const std::string& path, std::string why) {
  return Error{.kind = ErrorKind::kBadRequest, .message = std::move(why), .where = path};
}

bool is_manifest(const fs::path& path) {
  return path.extension() == ".yaml" || path.extension() == ".yml" || path.extension() == ".json";
}

Result<std::vector<std::string>> files_under(const std::string& path) {
  std::error_code error;
  if (path == "-" || !fs::is_directory(path, error)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (auto it = fs::directory_iterator(path, error); !error && it != fs::directory_iterator();
       it.increment(error))
    if (is_manifest(it->path())) files.push_back(it->path().string());
  if (error) return cannot_read(path, error.message());
  if (files.empty()) return cannot_read(path, "no *.yaml, *.yml or *.json file in this folder");
  std::ranges::sort(files);
  return files;
}

}  // namespace

Result<std::vector<ManifestText>> read_manifest_texts(const std::vector<std::string>& paths) {
  std::vector<ManifestText> out;
  std::size_t bytes = 0, documents = 0;
  for (const std::string& path : paths) {
    Result<std::vector<std::string>> files = files_under(path);
    if (!files) return std::move(files).error();
    for (const std::string& file : *files) {
      Result<std::string> text = read_text(file);
      if (!text) return std::move(text).error();
      bytes += text->size();
      if (bytes > kMaxBytes)
        return cannot_read(
            path, fmt::format("makes it more than {} MiB together; name fewer files at once",
                              kMaxBytes >> 20));
      Manifest manifest = parse_manifest(*text, shown_path(file));
      documents += manifest.documents.size() + manifest.findings.size();
      out.push_back({shown_path(file), std::move(manifest)});
    }
  }
  if (!paths.empty() && documents == 0)
    return cannot_read(paths.size() == 1 ? shown_path(paths.front()) : "-f",
                       "there is no object in it; is it the right file?");
  return out;
}

}  // namespace berth
