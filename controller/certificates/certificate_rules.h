// SPDX-License-Identifier: Apache-2.0
// CertificateRules: what the keeper of a self-managed webhook's certificates does next. A pure
// function of what the cluster holds: the keeper takes one step, reads again and asks again, so
// that a crash, a person or another replica between two steps changes nothing.
//
// An authority is made, told to the API server beside the one before, and signs only once it has
// been known for a day; the one before is forgotten a day after its last leaf was replaced.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apis/time.h"
#include "controller/certificates/certificate_maker.h"

namespace berth {

inline constexpr Duration kAuthorityLife = std::chrono::hours(24 * 365);
inline constexpr Duration kLeafLife = std::chrono::hours(24 * 90);
inline constexpr Duration kClockSkew = std::chrono::hours(1);  // how far back both begin
inline constexpr Duration kBundleOverlap = std::chrono::hours(24);

// The Secret of the authority.
struct StoredAuthority {
  CertificatePair pair;
  std::string previous;               // PEM of those that are still believed
  std::optional<Time> trusted_since;  // every configuration has named it since then
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
  std::vector<std::string> dns_names;  // that the leaf is to carry
};

enum class CertificateStep {
  kNone,           // all is as it should be, or time must pass
  kMakeAuthority,  // and keep `previous` beside it
  kPublish,        // `bundle`, in every configuration that is there
  kNoteTrusted,    // in the authority's Secret: now
  kMakeLeaf,       // signed by the authority
  kDropPrevious,
};
const char* to_string(CertificateStep step);

struct CertificateDecision {
  CertificateStep step = CertificateStep::kNone;
  std::string why;       // for the log
  std::string previous;  // kMakeAuthority
  std::string bundle;    // what every configuration is to say; empty with kMakeAuthority
};

CertificateDecision decide_certificates(const CertificateState& state, Time now);

}  // namespace berth
