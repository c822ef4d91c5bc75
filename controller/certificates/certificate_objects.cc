// SPDX-License-Identifier: Apache-2.0
#include "controller/certificates/certificate_objects.h"

#include <nlohmann/json.hpp>

#include "apis/base/base64.h"
#include "controller/core/seeded_bugs.h"

namespace berth {
namespace {

using nlohmann::json;

constexpr char kTrustedSince[] = "gpu.berth.dev/trusted-since";
constexpr char kPrevious[] = "previous.crt";

// A value of an unexpected type reads as empty, because users can edit Secrets.
const json& at(const json& object, const char* key) {
  static const json kNothing;
  if (!object.is_object()) return kNothing;
  const auto found = object.find(key);
  return found == object.end() ? kNothing : *found;
}
std::string text_at(const json& object, const char* key) {
  const json& value = at(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}
std::string decoded_at(const json& object, const char* key) {
  return decode_base64(text_at(object, key)).value_or("");
}
// PEM that more PEM may follow: an editor may have left out the last line break.
std::string lines_at(const json& object, const char* key) {
  std::string text = decoded_at(object, key);
  if (!text.empty() && text.back() != '\n') text += '\n';
  return text;
}

Result<json> parse(const std::string& text, const char* what) {
  json object = json::parse(text, nullptr, false);
  if (!object.is_object()) return decode_error(what, "is no JSON object");
  return object;
}

}  // namespace

Result<CertificateSecret> read_secret(const std::string& text) {
  const Result<json> object = parse(text, "Secret");
  if (!object.has_value()) return object.error();
  CertificateSecret secret;
  const json& meta = at(*object, "metadata");
  secret.resource_version = text_at(meta, "resourceVersion");
  const json& data = at(*object, "data");
  secret.content.pair = {lines_at(data, "tls.crt"), lines_at(data, "tls.key")};
  secret.content.previous = lines_at(data, kPrevious);
  const Result<Time> since = parse_time(text_at(at(meta, "annotations"), kTrustedSince));
  if (since.has_value()) secret.content.trusted_since = *since;
  return secret;
}

std::string write_secret(const ObjectKey& key, const CertificateSecret& secret) {
  const StoredAuthority& content = secret.content;
  json object = {{"apiVersion", "v1"},
                 {"kind", "Secret"},
                 {"metadata", {{"name", key.name}, {"namespace", key.namespace_}}},
                 {"data",
                  {{"tls.crt", encode_base64(content.pair.certificate)},
                   {"tls.key", encode_base64(content.pair.key)}}}};
  json& meta = object["metadata"];
  json& annotations = meta["annotations"] = json::object();
  if (content.trusted_since) annotations[kTrustedSince] = format_time(*content.trusted_since);
  if (!content.previous.empty()) object["data"][kPrevious] = encode_base64(content.previous);
  if (secret.resource_version.empty()) {
    object["type"] = "kubernetes.io/tls";
  } else {  // the type is immutable, and any type works
    if (!seeded(SeededBug::kUnconditionalSecret))
      meta["resourceVersion"] = secret.resource_version;  // makes a merge patch conditional too
    if (!content.trusted_since) annotations[kTrustedSince] = nullptr;
    if (content.previous.empty()) object["data"][kPrevious] = nullptr;
  }
  return object.dump();
}

Result<WebhookConfiguration> read_configuration(const std::string& text) {
  const Result<json> object = parse(text, "webhook configuration");
  if (!object.has_value()) return object.error();
  WebhookConfiguration configuration;
  configuration.resource_version = text_at(at(*object, "metadata"), "resourceVersion");
  const json& webhooks = at(*object, "webhooks");
  if (!webhooks.is_array()) return configuration;
  for (const json& webhook : webhooks) {
    configuration.webhooks.push_back(text_at(webhook, "name"));
    configuration.bundles.push_back(decoded_at(at(webhook, "clientConfig"), "caBundle"));
  }
  return configuration;
}

std::string write_bundle(const KindInfo& kind, const std::string& name,
                         const WebhookConfiguration& configuration, const std::string& bundle) {
  json webhooks = json::array();
  for (const std::string& webhook : configuration.webhooks)
    webhooks.push_back(
        {{"name", webhook}, {"clientConfig", {{"caBundle", encode_base64(bundle)}}}});
  return json{{"apiVersion", api_version(kind)},
              {"kind", kind.kind},
              {"metadata", {{"name", name}, {"resourceVersion", configuration.resource_version}}},
              {"webhooks", std::move(webhooks)}}
      .dump();
}

}  // namespace berth
