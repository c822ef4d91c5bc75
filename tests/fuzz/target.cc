// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/target.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/apis/protobuf_writer.h"
#include "tests/fuzz/checks.h"
#include "tests/support/places.h"

namespace berth::test {
namespace {

// "KIND {…}" as protobuf; any other text is used as bytes.
std::string protobuf_list_of(const std::string& seed) {
  const std::size_t space = seed.find(" {");
  if (space == seed.npos) return seed;
  return protobuf_body(seed.substr(0, space), seed.substr(space + 1));
}

// Each line "TYPE KIND {…}" as an event after its length, in pieces of a few bytes.
std::string protobuf_stream_of(const std::string& seed) {
  std::string stream = "\x1f";
  for (std::size_t from = 0; from < seed.size();) {
    const std::size_t end = std::min(seed.find('\n', from), seed.size());
    const std::string line = seed.substr(from, end - from);
    const std::size_t kind = line.find(' '), json = line.find(" {");
    if (kind >= json || json == line.npos) return seed;
    const std::string event = protobuf_event(
        line.substr(0, kind), line.substr(kind + 1, json - kind - 1), line.substr(json + 1));
    for (int shift = 24; shift >= 0; shift -= 8)
      stream += static_cast<char>(event.size() >> shift & 0xff);
    stream += event;
    from = end + 1;
  }
  return stream;
}

constexpr Target kTargets[] = {
    {"watch-json", check_watch_json, 150},
    {"watch-protobuf", check_watch_protobuf, 4'000, {}, protobuf_stream_of},
    {"list-json", check_list_json, 600},
    {"list-protobuf", check_list_protobuf, 2'000, {}, protobuf_list_of},
    {"review", check_review, 3'000, "tests/data/reviews"},
    {"http1", check_http1, 3'000},
    {"tls", check_tls, 300},
    {"quantity", check_quantity, 20'000},
    {"time", check_time, 10'000},
    {"geometry", check_geometry, 1'000},
    {"manifest", check_manifest, 500, "tests/data/good_manifests.yaml"},
    {"scenario", check_scenario, 300, "examples/simulation"},
    {"import", check_import, 1'000, "tests/golden/import/odd-amounts/in/queues.yaml"},
    {"kubeconfig", check_kubeconfig, 1'000},
    {"exec-credential", check_exec_credential, 5'000},
    {"agent-file", check_agent_file, 1'500},
    {"plugin-file", check_plugin_file, 1'000},
    {"annotation", check_annotation, 10'000},
    {"ledger", check_ledger, 3'000},
    {"history", check_history, 1'000},
    {"schedule", check_schedule, 500},
    {"selector", check_selector, 3'000},
    {"reply", check_reply, 5'000},
    {"exposition", check_exposition, 2'000},
    {"prometheus", check_prometheus, 3'000},
    {"patch", check_patch, 3'000},
    {"certificate", check_certificate, 500},
};

std::string read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void add_seeds(const std::filesystem::path& place, std::vector<std::string>& seeds) {
  if (std::filesystem::is_directory(place)) {
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(place))
      files.push_back(entry.path());
    std::ranges::sort(files);
    for (const std::filesystem::path& file : files) seeds.push_back(read(file));
    return;
  }
  const std::string all = read(place), between = "\n---\n";
  for (std::size_t from = 0; from < all.size();) {
    const std::size_t end = std::min(all.find(between, from), all.size());
    seeds.push_back(all.substr(from, end - from));
    from = end + between.size();
  }
}

}  // namespace

std::span<const Target> targets() { return kTargets; }

const Target* find_target(std::string_view name) {
  const auto found = std::ranges::find(kTargets, name, &Target::name);
  return found == std::end(kTargets) ? nullptr : found;
}

std::vector<std::string> seeds_of(const Target& target) {
  const std::filesystem::path root = source_dir();
  std::vector<std::string> seeds;
  add_seeds(root / "tests/fuzz/corpus" / target.name, seeds);
  if (!target.more.empty()) add_seeds(root / target.more, seeds);
  if (target.encode != nullptr) std::ranges::transform(seeds, seeds.begin(), target.encode);
  return seeds;
}

}  // namespace berth::test
