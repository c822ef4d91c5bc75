// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/manifest_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>

namespace berth {
namespace {

namespace fs = std::filesystem;

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

void read_documents(const Manifest& manifest, const std::string& file, ManifestFiles& out) {
  const auto take = [&out](const std::vector<Finding>& findings) {
    out.findings.insert(out.findings.end(), findings.begin(), findings.end());
    return findings.empty();
  };
  take(manifest.findings);
  for (const ManifestDocument& document : manifest.documents) {
    if (document.kind == kKind<GPUClusterPolicy>.kind) {
      StrictPolicy strict = decode_strict_policy(document, file);
      if (take(strict.findings)) out.policies.push_back({strict.policy, document, file});
    } else if (document.kind == kKind<MIGLayout>.kind || document.kind.empty()) {
      StrictLayout strict = decode_strict(document, file);
      if (take(strict.findings)) out.layouts.push_back({strict.layout, document, file});
    } else {
      out.skipped.push_back({.file = file,
                             .line = document.line,
                             .object = document.kind + "/" + document.name,
                             .message = "is not one of berth's kinds; left alone"});
    }
  }
}

// Two manifests of one object: the later would silently win.
template <class InFile>
void find_twins(const std::vector<InFile>& objects, std::vector<Finding>& findings) {
  std::map<std::string, const InFile*> first;
  for (const InFile& object : objects) {
    auto [it, fresh] = first.emplace(object.document.name, &object);
    if (fresh) continue;
    findings.push_back(
        {.file = object.file,
         .line = object.document.line,
         .field = "metadata.name",
         .object = object.document.kind + "/" + object.document.name,
         .message = fmt::format("is in {}:{} already; remove or rename one of the two",
                                it->second->file, it->second->document.line)});
  }
}

}  // namespace

Result<std::string> read_text(const std::string& path) {
  if (path == "-")
    return std::string(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
  std::error_code error;
  if (fs::is_directory(path, error)) return cannot_read(path, "is a folder");
  std::ifstream file(path, std::ios::binary);
  if (!file) return cannot_read(path, std::strerror(errno));
  std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (file.bad()) return cannot_read(path, "could not be read to its end");
  return text;
}

Result<ManifestFiles> read_manifests(const std::vector<std::string>& paths) {
  ManifestFiles out;
  for (const std::string& path : paths) {
    Result<std::vector<std::string>> files = files_under(path);
    if (!files) return std::move(files).error();
    for (const std::string& file : *files) {
      Result<std::string> text = read_text(file);
      if (!text) return std::move(text).error();
      const std::string shown = file == "-" ? "stdin" : file;
      read_documents(parse_manifest(*text, shown), shown, out);
    }
  }
  find_twins(out.layouts, out.findings);
  find_twins(out.policies, out.findings);
  return out;
}

}  // namespace berth
