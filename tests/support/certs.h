// SPDX-License-Identifier: Apache-2.0
// A throw-away certificate authority for one control plane: P-256 keys, valid for a day. Input and
// output are PEM texts.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

namespace berth::test {

struct KeyPair {
  std::string certificate;  // PEM
  std::string key;          // PEM, PKCS#8
};

class Authority {
 public:
  Authority();
  ~Authority();
  const std::string& certificate() const { return self_.certificate; }
  // A server certificate for these names; an entry that looks like an IPv4 address becomes an IP
  // name.
  KeyPair issue_server(const std::vector<std::string>& names);
  // A client certificate: common name = user, organizations = groups.
  KeyPair issue_client(const std::string& user, const std::vector<std::string>& groups,
                       std::chrono::seconds valid = std::chrono::hours(24));

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  KeyPair self_;
};

// A bare key pair, for service-account tokens: `certificate` holds the public key.
KeyPair make_signing_key();

std::string base64(const std::string& bytes);

}  // namespace berth::test
