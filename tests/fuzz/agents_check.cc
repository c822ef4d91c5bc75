// SPDX-License-Identifier: Apache-2.0
#include "apis/codec/decode.h"
#include "controller/mig/agent_config.h"
#include "controller/policy/plugin_config.h"
#include "tests/fuzz/checks.h"

namespace berth::test {

Verdict check_agent_file(std::string_view text) {
  const Result<MigConfigs> read = parse_file(text);
  if (!read.has_value()) {
    const bool told = !read.error().message.empty() && read.error().message.size() < 2000;
    return {.wrong = told ? "" : "an error without words, or without end"};
  }
  Verdict verdict{.read = true};
  const Result<std::string> written = render_file(*read);
  if (!written.has_value()) {
    // With its aliases expanded, the file may be too large.
    verdict.wrong = render_configs(*read).size() + 100 < kMaxConfigBytes ? "cannot be written" : "";
    return verdict;
  }
  const Result<MigConfigs> again = parse_file(*written);
  if (!again.has_value())
    verdict.wrong = describe(again.error()) + "\n" + *written;
  else if (*again != *read)
    verdict.wrong = "read as another:\n" + *written;
  for (const auto& [name, content] : *read)
    if (strip_alias(name) != strip_alias(strip_alias(name)) && is_berth_config(name))
      verdict.wrong = "an alias of an alias: " + name;
  return verdict;
}

// {"data":{…}}, a ConfigMap; a key that berth would drop is its own.
Verdict check_plugin_file(std::string_view text) {
  std::string json(text);
  const Result<ConfigMap> file = decode_object<ConfigMap>(json);
  if (!file.has_value()) return {};
  Verdict verdict{.read = true};
  PoolSpec pool;
  pool.name = "inference";
  pool.sharing.strategy = SharingStrategy::kTimeSlicing;
  pool.sharing.replicas = 4;
  const std::optional<PluginConfig> own = render_plugin_config(pool);
  if (!own || !is_berths_plugin_key(own->key) || !mentions_sharing(own->text))
    return {.wrong = "berth does not know its own key"};
  std::set<std::string> named;
  for (const auto& [key, content] : file->data) named.insert(key);
  const std::map<std::string, std::string> wanted = plugin_configs({pool}, file->data, named);
  const auto standing = file->data.find(kDefaultPluginConfig);
  if (standing != file->data.end() && wanted.at(kDefaultPluginConfig) != standing->second)
    verdict.wrong = "somebody's default is not kept";
  for (const auto& [key, content] : wanted)
    if (key != kDefaultPluginConfig && !is_berths_plugin_key(key))
      verdict.wrong = "a key that is not berth's: " + key;
  for (const std::string& key : named)
    if (is_berths_plugin_key(key) && !wanted.contains(key))
      verdict.wrong = "a key that a node still names is dropped: " + key;
  // A second run with its own result changes nothing.
  if (plugin_configs({pool}, wanted, named) != wanted) verdict.wrong = "never content";
  return verdict;
}

}  // namespace berth::test
