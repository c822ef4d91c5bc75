// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/manifest_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "apis/nearest_name.h"
#include "controller/cmd/input_text.h"

namespace berth {
namespace {

namespace fs = std::filesystem;

// Of all files together, which are in memory together.
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

// Of berth's group, and no kind of it: most likely a misspelt one, which the API server would
// refuse.
Finding unknown_kind(const ManifestDocument& document, const std::string& file) {
  static const std::vector<std::string> kinds{std::string(kKind<MIGLayout>.kind),
                                              std::string(kKind<GPUClusterPolicy>.kind)};
  const std::string nearest = nearest_name(document.kind, kinds);
  const std::string advice = nearest.empty() ? "its kinds are " + kinds[0] + " and " + kinds[1]
                                             : "did you mean " + nearest + "?";
  return {.file = file,
          .line = line_of(document, "kind"),
          .field = "kind",
          .object = document.kind + (document.name.empty() ? "" : "/" + document.name),
          .message = fmt::format("{} has no such kind; {}", kKind<MIGLayout>.group, advice)};
}

// "gpu.berth.dev" of "gpu.berth.dev/v1alpha1".
bool is_of_our_group(const ManifestDocument& document) {
  return document.api_version.substr(0, document.api_version.find('/')) == kKind<MIGLayout>.group;
}

void read_documents(const Manifest& manifest, const std::string& file, ManifestFiles& out) {
  const auto take = [&out](const std::vector<Finding>& findings) {
    out.findings.insert(out.findings.end(), findings.begin(), findings.end());
    return findings.empty();
  };
  take(manifest.findings);
  if (manifest.documents.empty() && manifest.findings.empty())
    out.skipped.push_back({.file = file, .message = "holds no object"});
  for (const ManifestDocument& document : manifest.documents) {
    if (document.kind == kKind<GPUClusterPolicy>.kind) {
      StrictPolicy strict = decode_strict_policy(document, file);
      if (take(strict.findings)) out.policies.push_back({strict.policy, document, file});
    } else if (document.kind == kKind<MIGLayout>.kind || document.kind.empty()) {
      StrictLayout strict = decode_strict(document, file);
      if (take(strict.findings)) out.layouts.push_back({strict.layout, document, file});
    } else if (is_of_our_group(document)) {
      out.findings.push_back(unknown_kind(document, file));
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

Result<ManifestFiles> read_manifests(const std::vector<std::string>& paths) {
  ManifestFiles out;
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
            path, fmt::format("makes it more than {} MiB together; check fewer files at once",
                              kMaxBytes >> 20));
      const Manifest manifest = parse_manifest(*text, shown_path(file));
      documents += manifest.documents.size() + manifest.findings.size();
      read_documents(manifest, shown_path(file), out);
    }
  }
  if (!paths.empty() && documents == 0)
    return cannot_read(paths.size() == 1 ? shown_path(paths.front()) : "-f",
                       "there is no object in it; is it the right file?");
  find_twins(out.layouts, out.findings);
  find_twins(out.policies, out.findings);
  return out;
}

}  // namespace berth
