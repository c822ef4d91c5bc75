// SPDX-License-Identifier: Apache-2.0
// CertificateObjects: the Secrets and webhook configurations that certificates live in, as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apis/meta.h"
#include "apis/result.h"
#include "controller/certificates/certificate_rules.h"

namespace berth {

inline constexpr KindInfo kSecret{"", "v1", "secrets", "Secret", true};
inline constexpr KindInfo kMutatingConfiguration{"admissionregistration.k8s.io", "v1",
                                                 "mutatingwebhookconfigurations",
                                                 "MutatingWebhookConfiguration", false};
inline constexpr KindInfo kValidatingConfiguration{"admissionregistration.k8s.io", "v1",
                                                   "validatingwebhookconfigurations",
                                                   "ValidatingWebhookConfiguration", false};

// A Secret of type kubernetes.io/tls. What is not there, or can't be read, is empty.
struct CertificateSecret {
  std::string resource_version;  // empty: there is none
  StoredAuthority content;       // of the leaf's Secret the pair alone
};
Result<CertificateSecret> read_secret(const std::string& json);
// To create it (no resourceVersion known), or to merge into the one that was read.
std::string write_secret(const ObjectKey& key, const CertificateSecret& secret);

struct WebhookConfiguration {
  std::string resource_version;
  std::vector<std::string> webhooks;  // their names
  std::vector<std::string> bundles;   // PEM, in the same order
};
Result<WebhookConfiguration> read_configuration(const std::string& json);
// For server-side apply to the configuration as it was read: caBundle of each webhook, and nothing
// else.
std::string write_bundle(const KindInfo& kind, const std::string& name,
                         const WebhookConfiguration& configuration, const std::string& bundle);

}  // namespace berth
