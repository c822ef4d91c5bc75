// SPDX-License-Identifier: Apache-2.0
// CertificateInvariants: what must hold of the webhook's certificates, judged like the rest
// (invariants.h) on the store's truth, change by change:
//   Trust     every caBundle verifies each certificate that a webhook may show: the Secret's, and
//             for as long as a mounted file takes to change those that it held before
//   Overlap   a new authority has been in every caBundle for a day before it signs, unless nothing
//             else can be served; one that has signed stays a day beyond its last certificate
//   Pair      what berth writes into a Secret is a certificate and its key
//   Key       the authority's key is in its Secret and nowhere else
//   Unseen    nothing is replaced that was put there after the write had left
// and in the end that both Secrets are whole and every caBundle says the same.
//
// What a person breaks is broken until berth can have mended it. It starts, too, with nothing.
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

  // True of the keeper's, which asks for no lease.
  bool take_request(const std::string& user, const HttpRequest& request, MonotonicTime now);
  void take(const sim::Change& change, bool by_berth, MonotonicTime now, Time wall,
            const Complain& complain);
  // What is not in order now that berth is at rest. Empty: nothing.
  std::string unstill(Time wall);

 private:
  struct Shown {
    std::string leaf;                       // PEM
    std::optional<MonotonicTime> replaced;  // unset: it is the Secret's
  };
  using Bundles = std::vector<std::string>;  // PEM, one for each webhook

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
  // Of all that were ever seen; empty if none of them signed it.
  std::string issuer_of(const std::string& leaf) const;

  const CertificateKeeperOptions names_;
  const std::string namespace_;
  CertificateChain chain_;
  std::map<std::string, Bundles> configurations_;     // that are there, by kind
  std::map<std::string, CertificateSecret> secrets_;  // that are there, by name
  std::vector<Shown> shown_;
  std::set<std::string> authorities_;                 // PEM, that ever stood in the Secret
  std::set<std::string> keys_;                        // of authorities, PEM and base64
  std::map<std::string, MonotonicTime> known_since_;  // authorities that every bundle names
  std::map<std::string, MonotonicTime> last_shown_;   // authorities, when a leaf of theirs was
  std::map<std::string, MonotonicTime> changed_;      // by kind and name
  std::map<std::string, MonotonicTime> sent_;         // by user, kind and name
  std::set<std::string> taken_away_;                  // authorities, by a person
  std::optional<MonotonicTime> disturbed_;            // by a person
  bool established_ = false;                          // all was well once
};

}  // namespace berth::explore
