// SPDX-License-Identifier: Apache-2.0
// CertificateInvariants: what must hold for the webhook's certificates, checked like the others
// (invariants.h) on the store's truth, change by change:
//   Trust     every caBundle verifies each certificate that a webhook may serve: the Secret's, and
//             its predecessors for as long as a mounted file takes to change
//   Overlap   a new authority has been in every caBundle for a day before it signs, unless nothing
//             else can be served; after its last certificate it stays for one more day
//   Pair      berth writes a certificate into a Secret only together with its key
//   Key       the authority's key is only in its Secret
//   Unseen    berth replaces nothing that was stored after its write was sent
// and in the end both Secrets are complete and all caBundles are equal.
//
// After a user's change, the invariants wait until berth can have repaired it. At the start there
// are no certificates.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "controller/certificates/certificate_keeper.h"
#include "controller/core/settings.h"
#include "controller/io/loop.h"
#include "controller/io/transport.h"
#include "controller/sim/world/store.h"
#include "tests/explore/certificate_chain.h"

namespace berth::explore {

class CertificateInvariants {
 public:
  using Complain = std::function<void(std::string_view invariant, const std::string& what)>;

  explicit CertificateInvariants(const Settings& settings);

  // True for a request of the certificate manager, which needs no Lease.
  bool take_request(const std::string& user, const HttpRequest& request, MonotonicTime now);
  void take(const sim::Change& change, bool by_berth, MonotonicTime now, Time wall,
            const Complain& complain);
  // The fault in the state once berth is at rest. Empty: none.
  std::string unstill(Time wall);

 private:
  struct Shown {
    std::string leaf;                       // PEM
    std::optional<MonotonicTime> replaced;  // unset: it is in the Secret
  };
  using Bundles = std::vector<std::string>;  // PEM, one per webhook

  void take_secret(const sim::Change& change, bool by_berth, MonotonicTime now, Time wall,
                   const Complain& complain);
  void take_leaf(const CertificateSecret* before, const CertificateSecret& after, bool by_berth,
                 MonotonicTime now, Time wall, const Complain& complain);
  void take_standing(const CertificateSecret& authority, MonotonicTime now, Time wall);
  void judge_unseen(const sim::Change& change, bool by_berth, MonotonicTime now,
                    const Complain& complain);
  void take_configuration(const sim::Change& change, bool by_berth, MonotonicTime now,
                          const Complain& complain);
  void judge_loss(const Bundles& before, const Bundles& after, MonotonicTime now,
                  const Complain& complain) const;
  void judge_trust(MonotonicTime now, Time wall, const Complain& complain);
  std::string distrust(MonotonicTime now, Time wall);
  void note_known(MonotonicTime now);
  bool is_disturbed(MonotonicTime now) const;
  // Among all authorities ever seen; empty if none of them signed it.
  std::string issuer_of(const std::string& leaf) const;

  const CertificateKeeperOptions names_;
  const std::string namespace_;
  CertificateChain chain_;
  std::map<std::string, Bundles> configurations_;     // existing ones, by kind
  std::map<std::string, CertificateSecret> secrets_;  // existing ones, by name
  std::vector<Shown> shown_;
  std::set<std::string> authorities_;                 // PEM of all that were ever in the Secret
  std::set<std::string> keys_;                        // of authorities, PEM and base64
  std::map<std::string, MonotonicTime> known_since_;  // authorities that every bundle has
  std::map<std::string, MonotonicTime> last_shown_;   // authorities: their leaf's last use theirs
                                                      // was last served
  std::map<std::string, MonotonicTime> changed_;      // by kind and name
  std::map<std::string, MonotonicTime> sent_;         // by user, kind and name
  std::set<std::string> taken_away_;                  // authorities that a user removed
  std::optional<MonotonicTime> disturbed_;            // by a user
  bool established_ = false;                          // everything was in order once
};

}  // namespace berth::explore
