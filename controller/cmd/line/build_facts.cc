// SPDX-License-Identifier: Apache-2.0
#include "controller/cmd/line/build_facts.h"

#include <fmt/format.h>

namespace berth {
namespace {

#if defined(__x86_64__)
constexpr char kPlatform[] = "linux/amd64";
#elif defined(__aarch64__)
constexpr char kPlatform[] = "linux/arm64";
#else
constexpr char kPlatform[] = "linux/unknown";
#endif

#if defined(__clang__)
constexpr char kCompiler[] = "clang " __clang_version__;
#else
constexpr char kCompiler[] = "gcc " __VERSION__;
#endif

}  // namespace

const BuildFacts& build_facts() {
  static const BuildFacts facts{.version = BERTH_VERSION,
                                .commit = BERTH_COMMIT,
                                .commit_date = BERTH_COMMIT_DATE,
                                .tree_state = BERTH_TREE_STATE,
                                .compiler = kCompiler,
                                .platform = kPlatform};
  return facts;
}

std::string summary(const BuildFacts& facts) {
  const std::string date = facts.commit_date.substr(0, facts.commit_date.find('T'));
  if (facts.commit == "unknown") return facts.version + " (commit unknown)";
  return fmt::format("{} (commit {}, {})", facts.version, facts.commit, date);
}

}  // namespace berth
