// SPDX-License-Identifier: Apache-2.0
// CertificateKeeper: keeps a self-managed webhook's certificates in two Secrets, and its authority
// in the caBundle of the webhook configurations. Any number may run at once, in `berth
// certificates` or inside a controller, without leader election: each decides from a fresh read
// what to write (certificate_rules.h), and writes a Secret only under the resourceVersion that it
// read.
//
// Loop thread only. It must outlive run().
#pragma once

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "controller/certificates/certificate_objects.h"
#include "controller/certificates/certificate_rules.h"
#include "controller/client/api_client.h"
#include "controller/core/keeper_facts.h"
#include "controller/io/log.h"
#include "controller/io/task.h"

namespace berth {

struct CertificateKeeperOptions {
  std::string namespace_;
  std::string leaf_secret = "berth-webhook-tls";
  std::string authority_secret = "berth-webhook-ca";
  std::string service = "berth-webhook";
  std::string configuration = "berth-webhook";  // the name of both configurations
  std::chrono::nanoseconds period = std::chrono::minutes(1);
  std::chrono::nanoseconds retry = std::chrono::seconds(5);
};

// The DNS names that a certificate of the Service must have.
std::vector<std::string> service_names(const std::string& service, const std::string& namespace_);

class CertificateKeeper {
 public:
  CertificateKeeper(ApiClient& client, Log& log, CertificateKeeperOptions options,
                    KeySource& keys = system_keys());

  // Runs until stop is requested.
  Task<void> run(std::stop_token stop);
  // The fault of the certificates by the last check; nullopt: nothing.
  std::optional<std::string> problem() const;
  const KeeperFacts& facts() const { return facts_; }

 private:
  struct Seen {
    CertificateSecret authority, leaf;
    std::vector<std::optional<WebhookConfiguration>> configurations;  // as kConfigurations
    CertificateState state;
  };
  // True: no step remains until the next check.
  Task<bool> check(std::stop_token stop);
  Task<Result<Seen>> fetch(std::stop_token stop);
  Task<Result<void>> take(CertificateDecision decision, Seen seen, std::stop_token stop);
  Task<Result<void>> send_secret(ObjectKey key, CertificateSecret secret, std::stop_token stop);
  Task<Result<void>> send_bundle(std::string bundle, Seen seen, std::stop_token stop);
  Task<Result<std::optional<std::string>>> fetch_json(KindInfo kind, ObjectKey key,
                                                      std::stop_token stop);
  void note_ends(const CertificateState& state);
  void complain(const Error& error);

  ApiClient& client_;
  Log& log_;
  Loop& loop_;
  const CertificateKeeperOptions options_;
  const ObjectKey authority_key_;
  const ObjectKey leaf_key_;
  KeySource& keys_;
  std::string complaint_;  // logged once
  KeeperFacts facts_;
};

}  // namespace berth
