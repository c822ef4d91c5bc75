// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/certificate_invariants.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apis/base/base64.h"
#include "controller/certificates/certificate_facts.h"

namespace berth::explore {

using sim::Change;
using namespace std::chrono_literals;

namespace {

// The kubelet updates mounted Secrets about once a minute, and the webhook checks its files every
// ten seconds.
constexpr std::chrono::nanoseconds kMounted = 90s;
// One check per minute, a crash or two in between, and then the mounted file.
constexpr std::chrono::nanoseconds kMended = 6min;
constexpr std::chrono::nanoseconds kDay = 24h;

bool is_whole(const CertificateSecret& secret) { return is_pair(secret.content.pair); }

CertificateSecret secret_of(const sim::ObjectPtr& object) {
  return read_secret(object->dump()).value();
}

std::vector<std::string> bundles_of(const sim::ObjectPtr& object) {
  if (object == nullptr) return {};
  return read_configuration(object->dump()).value().bundles;
}

bool says(const std::string& bundle, const std::string& authority) {
  return bundle.find(authority) != bundle.npos;
}

}  // namespace

CertificateInvariants::CertificateInvariants(const Settings& settings)
    : namespace_(settings.berth_namespace),
      chain_(service_names(names_.service, namespace_).front()) {}

bool CertificateInvariants::is_disturbed(MonotonicTime now) const {
  return !established_ || (disturbed_ && now - *disturbed_ < kMended);
}

std::string CertificateInvariants::issuer_of(const std::string& leaf) const {
  for (const std::string& authority : authorities_)
    if (is_issued_by(leaf, authority)) return authority;
  return "";
}

bool CertificateInvariants::take_request(const std::string& user, const HttpRequest& request,
                                         MonotonicTime now) {
  if (request.target.find("fieldManager=berth-webhook-certificates") == request.target.npos)
    return false;
  const std::string path = request.target.substr(0, request.target.find('?'));
  const std::size_t kind = path.rfind('/', path.rfind('/') - 1);
  if (request.method == "PATCH") sent_[user + path.substr(kind)] = now;
  return true;
}

void CertificateInvariants::take(const Change& change, bool by_berth, MonotonicTime now, Time wall,
                                 const Complain& complain) {
  static const sim::ResourceType* const kSecrets = sim::find_resource_type("secrets");
  static const sim::ResourceType* const kMutating =
      sim::find_resource_type(kMutatingConfiguration.plural);
  static const sim::ResourceType* const kValidating =
      sim::find_resource_type(kValidatingConfiguration.plural);
  const sim::ResourceType* type = change.key.type;
  if (type == kSecrets)
    take_secret(change, by_berth, now, wall, complain);
  else if (type == kMutating || type == kValidating)
    take_configuration(change, by_berth, now, complain);
  if (shown_.empty()) return;
  judge_trust(now, wall, complain);
  if (!by_berth || change.after == nullptr || type->plural == "leases" ||
      change.key.name == names_.authority_secret)
    return;
  const std::string text = change.after->dump();
  for (const std::string& key : keys_)
    if (text.find(key) != text.npos)
      complain("Key", fmt::format("the authority's key is in {}", change.key.str()));
}

void CertificateInvariants::judge_unseen(const Change& change, bool by_berth, MonotonicTime now,
                                         const Complain& complain) {
  const std::string path = fmt::format("/{}/{}", change.key.type->plural, change.key.name);
  const auto sent = sent_.find(change.user + path);
  if (by_berth && change.before != nullptr && sent != sent_.end() && changed_[path] > sent->second)
    complain("Unseen", fmt::format("the {} {} is written over what its writer cannot have known",
                                   change.key.type->kind, change.key.name));
  changed_[path] = now;
}

void CertificateInvariants::take_secret(const Change& change, bool by_berth, MonotonicTime now,
                                        Time wall, const Complain& complain) {
  const std::string& name = change.key.name;
  if (change.key.namespace_ != namespace_ ||
      (name != names_.authority_secret && name != names_.leaf_secret))
    return;
  const bool stood = change.user == "before";
  if (!by_berth && !stood) disturbed_ = now;
  judge_unseen(change, by_berth, now, complain);
  const auto held = secrets_.find(name);
  const std::optional<CertificateSecret> before =
      held == secrets_.end() ? std::nullopt : std::optional(held->second);
  if (change.kind == Change::Kind::kDeleted) return void(secrets_.erase(name));
  const CertificateSecret after = secrets_[name] = secret_of(change.after);
  if (by_berth && !is_whole(after))
    complain("Pair", fmt::format("the key in {} is not its certificate's", name));
  if (name == names_.leaf_secret)
    return take_leaf(before ? &*before : nullptr, after, by_berth, now, wall, complain);
  const auto facts = read_certificate_facts(after.content.pair.certificate);
  if (!facts || !facts->authority) return;
  const std::string named = after.content.pair.certificate + after.content.previous;
  for (const std::string& authority : authorities_)
    if (!by_berth && !says(named, authority)) taken_away_.insert(authority);
  authorities_.insert(after.content.pair.certificate);
  keys_.insert(after.content.pair.key);
  keys_.insert(encode_base64(after.content.pair.key));
  if (stood) take_standing(after, now, wall);
}

// The times of the certificates that exist at the start come from the certificates themselves.
void CertificateInvariants::take_standing(const CertificateSecret& authority, MonotonicTime now,
                                          Time wall) {
  const StoredAuthority& stored = authority.content;
  for (const std::string& previous : split_certificates(stored.previous)) {
    authorities_.insert(previous);
    known_since_[previous] = now - kDay;
  }
  known_since_[stored.pair.certificate] = now - (wall - stored.trusted_since.value_or(wall));
}

void CertificateInvariants::take_leaf(const CertificateSecret* before,
                                      const CertificateSecret& after, bool by_berth,
                                      MonotonicTime now, Time wall, const Complain& complain) {
  const std::string& leaf = after.content.pair.certificate;
  if (!is_whole(after) || (!shown_.empty() && shown_.back().leaf == leaf)) return;
  const std::string issuer = issuer_of(leaf);
  if (shown_.empty() && !by_berth) {  // it existed: others have not signed since
    const auto life = read_certificate_facts(leaf)->validity;
    for (const std::string& authority : authorities_)
      if (authority != issuer) last_shown_[authority] = now - (wall - (life.from + kClockSkew));
  }
  const bool served = before != nullptr && is_whole(*before) && !shown_.empty();
  if (served && by_berth && !is_disturbed(now)) {
    const auto known = known_since_.find(issuer);
    const bool same = issuer_of(shown_.back().leaf) == issuer;
    if (!same && (known == known_since_.end() || now - known->second < kDay))
      complain("Overlap", fmt::format("{} is signed by an authority that not every API server has "
                                      "known for a day",
                                      names_.leaf_secret));
  }
  if (!shown_.empty()) shown_.back().replaced = now;
  std::erase_if(shown_,
                [&](const Shown& one) { return one.replaced && now - *one.replaced > kMounted; });
  if (!shown_.empty()) last_shown_[issuer_of(shown_.back().leaf)] = now;
  shown_.push_back({leaf, std::nullopt});
}

void CertificateInvariants::take_configuration(const Change& change, bool by_berth,
                                               MonotonicTime now, const Complain& complain) {
  if (change.key.name != names_.configuration) return;
  if (!by_berth && change.user != "before") disturbed_ = now;
  const std::string kind(change.key.type->kind);
  judge_unseen(change, by_berth, now, complain);
  const Bundles before = bundles_of(change.before);
  if (change.kind == Change::Kind::kDeleted) {
    configurations_.erase(kind);
  } else {
    const Bundles& after = configurations_[kind] = bundles_of(change.after);
    if (by_berth) judge_loss(before, after, now, complain);
  }
  note_known(now);
}

void CertificateInvariants::judge_loss(const Bundles& before, const Bundles& after,
                                       MonotonicTime now, const Complain& complain) const {
  for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i)
    for (const std::string& authority : authorities_) {
      if (!says(before[i], authority) || says(after[i], authority)) continue;
      if (taken_away_.contains(authority)) continue;
      const bool in_use = !shown_.empty() && is_issued_by(shown_.back().leaf, authority);
      const auto last = last_shown_.find(authority);
      if (in_use || (last != last_shown_.end() && now - last->second < kDay))
        complain("Overlap",
                 fmt::format("a caBundle loses an authority {}",
                             in_use ? "whose certificate is shown"
                                    : "whose certificate was shown less than a day ago"));
    }
}

void CertificateInvariants::note_known(MonotonicTime now) {
  for (const std::string& authority : authorities_) {
    const bool everywhere = std::ranges::all_of(configurations_, [&](const auto& configuration) {
      return std::ranges::all_of(
          configuration.second, [&](const std::string& bundle) { return says(bundle, authority); });
    });
    if (everywhere)
      known_since_.try_emplace(authority, now);
    else
      known_since_.erase(authority);
  }
}

// Empty if every webhook that may be called now is trusted.
std::string CertificateInvariants::distrust(MonotonicTime now, Time wall) {
  for (const Shown& one : shown_) {
    if (one.replaced && now - *one.replaced > kMounted) continue;
    for (const auto& [kind, bundles] : configurations_)
      for (const std::string& bundle : bundles)
        if (!chain_.believes(bundle, one.leaf, wall))
          return fmt::format("the {} does not verify {}", kind,
                             one.replaced ? "a certificate that may still be mounted"
                                          : "the certificate in " + names_.leaf_secret);
  }
  return "";
}

void CertificateInvariants::judge_trust(MonotonicTime now, Time wall, const Complain& complain) {
  const std::string why = distrust(now, wall);
  if (why.empty())
    established_ = established_ || !configurations_.empty();
  else if (!is_disturbed(now))
    complain("Trust", why);
}

std::string CertificateInvariants::unstill(Time wall) {
  if (configurations_.empty() && secrets_.empty()) return "";
  for (const std::string& name : {names_.authority_secret, names_.leaf_secret})
    if (!secrets_.contains(name) || !is_whole(secrets_.at(name)))
      return fmt::format("the Secret {} holds no certificate and its key", name);
  std::set<std::string> said;
  for (const auto& [kind, bundles] : configurations_) said.insert(bundles.begin(), bundles.end());
  if (said.size() > 1) return "not every caBundle says the same";
  const std::string& leaf = secrets_.at(names_.leaf_secret).content.pair.certificate;
  if (!said.empty() && !chain_.believes(*said.begin(), leaf, wall))
    return "no caBundle verifies the certificate";
  return "";
}

}  // namespace berth::explore
