// SPDX-License-Identifier: Apache-2.0
#include "controller/scenario/webhook_objects.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "apis/base/base64.h"
#include "controller/certificates/certificate_keeper.h"

namespace berth {
namespace {

using nlohmann::json;

constexpr const char* kKinds[] = {"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"};

Validity since(Time made, Duration life) { return {made - kClockSkew, made + life}; }

std::string text_of(const CertificateKeeperOptions& options, const std::string& kind,
                    const std::string& bundle) {
  return fmt::format(
      R"({{"apiVersion":"admissionregistration.k8s.io/v1","kind":"{}","metadata":{{"name":"{}"}},"webhooks":{}}})",
      kind, options.configuration, webhooks_saying(kind, encode_base64(bundle)));
}

}  // namespace

std::string webhooks_saying(const std::string& kind, const std::string& bundle) {
  json webhook = {
      {"admissionReviewVersions", {"v1"}},
      {"sideEffects", "None"},
      {"clientConfig", {{"service", {{"name", "berth-webhook"}, {"namespace", "berth-system"}}}}}};
  if (!bundle.empty()) webhook["clientConfig"]["caBundle"] = bundle;
  json webhooks = json::array();
  const bool mutating = kind == kKinds[0];
  for (const char* name : {mutating ? "pods.gpu.berth.dev" : "kinds.gpu.berth.dev",
                           mutating ? "jobs.gpu.berth.dev" : "pods.gpu.berth.dev"}) {
    webhook["name"] = name;
    webhooks.push_back(webhook);
  }
  return webhooks.dump();
}

std::vector<std::string> webhook_objects(const ScenarioCertificates& certificates,
                                         const std::string& namespace_, Time now, KeySource& keys) {
  const CertificateKeeperOptions names{.namespace_ = namespace_};
  std::vector<std::string> objects;
  std::string bundle;
  if (certificates.authority_age) {
    const Time made = now - *certificates.authority_age;
    const auto authority_made_at = [&](Time at) {
      return make_authority(names.authority_secret, since(at, kAuthorityLife), keys).value();
    };
    CertificateSecret authority;
    authority.content = {.pair = authority_made_at(made), .previous = "", .trusted_since = made};
    CertificatePair signer = authority.content.pair;
    if (certificates.previous_age) {
      const CertificatePair previous = authority_made_at(now - *certificates.previous_age);
      authority.content.previous = previous.certificate;
      if (certificates.leaf_of_previous) signer = previous;
    }
    bundle = authority.content.pair.certificate + authority.content.previous;
    objects.push_back(write_secret({namespace_, names.authority_secret}, authority));
    const Time signed_at = now - certificates.leaf_age.value_or(*certificates.authority_age);
    CertificateSecret leaf;
    leaf.content.pair = make_leaf(signer, service_names(names.service, namespace_),
                                  since(signed_at, kLeafLife), keys)
                            .value();
    objects.push_back(write_secret({namespace_, names.leaf_secret}, leaf));
  }
  for (const char* kind : kKinds) objects.push_back(text_of(names, kind, bundle));
  return objects;
}

}  // namespace berth
