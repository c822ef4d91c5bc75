// SPDX-License-Identifier: Apache-2.0
// CertificateObjects: the Secrets and webhook configurations that hold certificates, as JSON.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apis/base/result.h"
#include "apis/kinds/meta.h"
#include "controller/certificates/certificate_rules.h"

namespace berth {

inline constexpr KindInfo kSecret{"", "v1", "secrets", "Secret", true};
inline constexpr KindInfo kMutatingConfiguration{"admissionregistration.k8s.io", "v1",
                                                 "mutatingwebhookconfigurations",
                                                 "MutatingWebhookConfiguration", false};
inline constexpr KindInfo kValidatingConfiguration{"admissionregistration.k8s.io", "v1",
                                                   "validatingwebhookconfigurations",
                                                   "ValidatingWebhookConfiguration", false};

// A Secret of type kubernetes.io/tls. Missing or unreadable parts are empty.
struct CertificateSecret {
  std::string resource_version;  // empty: there is no Secret
  StoredAuthority content;       // the leaf's Secret has only the pair
};
Result<CertificateSecret> read_secret(const std::string& json);
// A body that creates the Secret (without a resourceVersion), or merges into the one that was read.
std::string write_secret(const ObjectKey& key, const CertificateSecret& secret);

struct WebhookConfiguration {
  std::string resource_version;
  std::vector<std::string> webhooks;  // names
  std::vector<std::string> bundles;   // PEM, in the same order
};
Result<WebhookConfiguration> read_configuration(const std::string& json);
// For server-side apply to the configuration as read: the caBundle of each webhook and no other
// field.
std::string write_bundle(const KindInfo& kind, const std::string& name,
                         const WebhookConfiguration& configuration, const std::string& bundle);

}  // namespace berth
