// SPDX-License-Identifier: Apache-2.0
// CertificateRules: decides the next step for a self-managed webhook's certificates. A pure
// function of the cluster's state: the keeper takes one step, reads again and decides again. A
// crash, a user or another replica between two steps therefore does no harm.
//
// A new authority is published in addition to the previous one, and signs only once it has been
// trusted for a day. The previous one is dropped a day after its last leaf was replaced.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apis/base/time.h"
#include "controller/certificates/certificate_maker.h"

namespace berth {

inline constexpr Duration kAuthorityLife = std::chrono::hours(24 * 365);
inline constexpr Duration kLeafLife = std::chrono::hours(24 * 90);
inline constexpr Duration kClockSkew = std::chrono::hours(1);  // both start this far in the past
inline constexpr Duration kBundleOverlap = std::chrono::hours(24);

// The Secret of the authority.
struct StoredAuthority {
  CertificatePair pair;
  std::string previous;               // PEM of authorities that are still trusted
  std::optional<Time> trusted_since;  // every configuration has had it since then
};

// One webhook configuration of the cluster.
struct TrustingConfiguration {
  bool found = false;
  std::vector<std::string> bundles;  // PEM, one for each of its webhooks
};

struct CertificateState {
  std::optional<StoredAuthority> authority;
  std::optional<CertificatePair> leaf;
  std::vector<TrustingConfiguration> configurations;
  std::vector<std::string> dns_names;  // that the leaf must have
};

enum class CertificateStep {
  kNone,           // nothing to do now
  kMakeAuthority,  // and keep `previous` with it
  kPublish,        // write `bundle` into every existing configuration
  kNoteTrusted,    // write the present time into the authority's Secret
  kMakeLeaf,       // signed by the authority
  kDropPrevious,
};
const char* to_string(CertificateStep step);

struct CertificateDecision {
  CertificateStep step = CertificateStep::kNone;
  std::string why;       // for the log
  std::string previous;  // kMakeAuthority
  std::string bundle;    // the PEM that every configuration must have; empty with kMakeAuthority
};

CertificateDecision decide_certificates(const CertificateState& state, Time now);

}  // namespace berth
