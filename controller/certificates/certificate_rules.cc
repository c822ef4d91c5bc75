// SPDX-License-Identifier: Apache-2.0
// Outline: decide_certificates(), then its checks in order.
#include "controller/certificates/certificate_rules.h"

#include <algorithm>
#include <utility>

#include "controller/certificates/certificate_facts.h"
#include "controller/core/seeded_bugs.h"

namespace berth {
namespace {

bool has_passed(const Validity& validity, Time now) { return validity.until <= now; }
// Clients refuse it until then.
bool is_yet_to_begin(const Validity& validity, Time now) { return now < validity.from; }
// Whether two thirds of the life are over.
bool is_due(const Validity& validity, Time now) {
  return now >= validity.from + (validity.until - validity.from) * 2 / 3;
}

// Empty, or why the authority must sign no further leaf.
std::string authority_problem(const std::optional<StoredAuthority>& stored, Time now) {
  if (!stored) return "there is no authority";
  const auto facts = read_certificate_facts(stored->pair.certificate);
  if (!facts || !facts->authority || !is_pair(stored->pair)) return "the authority can't be read";
  if (has_passed(facts->validity, now)) return "the authority has expired";
  if (is_yet_to_begin(facts->validity, now)) return "the authority is not valid yet";
  if (is_due(facts->validity, now)) return "two thirds of the authority's life are over";
  return "";
}

// Empty, or why the webhook can't serve it.
std::string leaf_problem(const std::optional<CertificatePair>& leaf,
                         const std::vector<std::string>& dns_names,
                         const std::vector<std::string>& believed, Time now) {
  if (!leaf) return "there is no certificate";
  const auto facts = read_certificate_facts(leaf->certificate);
  const bool fits = seeded(SeededBug::kTrustAnyPair) || is_pair(*leaf);
  if (!facts || !fits) return "the certificate can't be read";
  if (has_passed(facts->validity, now)) return "the certificate has expired";
  if (is_yet_to_begin(facts->validity, now)) return "the certificate is not valid yet";
  if (facts->dns_names != dns_names) return "the certificate has other names than the service";
  const auto issued = [&](const std::string& authority) {
    return is_issued_by(leaf->certificate, authority);
  };
  if (std::none_of(believed.begin(), believed.end(), issued))
    return "nobody trusts the certificate's authority";
  return "";
}

// The authorities that stay trusted next to a new one: those in the Secret and, if the Secret is
// lost, those in the configurations' bundles. Their keys are not needed. A lost Secret therefore
// costs only a new authority.
std::string still_believed(const CertificateState& state, Time now) {
  std::vector<std::string> believed;
  const auto add = [&](const std::string& pem) {
    for (const std::string& authority : split_certificates(pem)) {
      const auto facts = read_certificate_facts(authority);
      if (facts && facts->authority && !has_passed(facts->validity, now) &&
          std::find(believed.begin(), believed.end(), authority) == believed.end())
        believed.push_back(authority);
    }
  };
  bool lost = true;
  if (state.authority) {
    add(state.authority->pair.certificate);
    lost = believed.empty();
    add(state.authority->previous);
  }
  if (lost)
    for (const TrustingConfiguration& configuration : state.configurations)
      for (const std::string& bundle : configuration.bundles) add(bundle);
  std::string bundle;
  for (const std::string& authority : believed) bundle += authority;
  return bundle;
}

bool all_say(const std::vector<TrustingConfiguration>& configurations, const std::string& bundle) {
  for (const TrustingConfiguration& configuration : configurations)
    for (const std::string& said : configuration.bundles)
      if (said != bundle) return false;
  return true;
}

bool all_found(const std::vector<TrustingConfiguration>& configurations) {
  return std::all_of(configurations.begin(), configurations.end(),
                     [](const TrustingConfiguration& one) { return one.found; });
}

}  // namespace

const char* to_string(CertificateStep step) {
  switch (step) {
    case CertificateStep::kNone:
      return "nothing";
    case CertificateStep::kMakeAuthority:
      return "make an authority";
    case CertificateStep::kPublish:
      return "publish the bundle";
    case CertificateStep::kNoteTrusted:
      return "note that the authority is known";
    case CertificateStep::kMakeLeaf:
      return "make a certificate";
    case CertificateStep::kDropPrevious:
      return "remove the previous authority";
  }
  return "";
}

CertificateDecision decide_certificates(const CertificateState& state, Time now) {
  if (std::string why = authority_problem(state.authority, now); !why.empty())
    return {.step = CertificateStep::kMakeAuthority,
            .why = std::move(why),
            .previous = still_believed(state, now)};

  const StoredAuthority& authority = *state.authority;
  CertificateDecision decision{.bundle = authority.pair.certificate + authority.previous};
  if (seeded(SeededBug::kReplaceBundle)) decision.bundle = authority.pair.certificate;
  const auto step = [&](CertificateStep next, std::string why) {
    decision.step = next;
    decision.why = std::move(why);
    return decision;
  };

  // 1. Clients must trust an authority before they see its leaf.
  if (!all_say(state.configurations, decision.bundle))
    return step(CertificateStep::kPublish, "a configuration has something else");
  const std::vector<std::string> believed = split_certificates(decision.bundle);
  if (std::string why = leaf_problem(state.leaf, state.dns_names, believed, now); !why.empty())
    return step(CertificateStep::kMakeLeaf, std::move(why));
  if (!authority.trusted_since && all_found(state.configurations))
    return step(CertificateStep::kNoteTrusted, "every configuration has it");

  // 2. Clients that trust this leaf's authority already trust its next leaf.
  const Validity life = read_certificate_facts(state.leaf->certificate)->validity;
  const bool of_this = is_issued_by(state.leaf->certificate, authority.pair.certificate);
  const bool known = authority.trusted_since && (now - *authority.trusted_since >= kBundleOverlap ||
                                                 seeded(SeededBug::kSignEarly));
  if (of_this && is_due(life, now))
    return step(CertificateStep::kMakeLeaf, "two thirds of the certificate's life are over");
  if (!of_this && known)
    return step(CertificateStep::kMakeLeaf, "the new authority has been known for a day");

  // 3. Processes reread the leaf within minutes; a day is more than enough.
  const bool replaced_long_ago =
      now - (life.from + kClockSkew) >= kBundleOverlap || seeded(SeededBug::kForgetEarly);
  if (of_this && !authority.previous.empty() && replaced_long_ago)
    return step(CertificateStep::kDropPrevious, "its last certificate was replaced a day ago");
  return decision;
}

}  // namespace berth
