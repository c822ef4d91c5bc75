// SPDX-License-Identifier: Apache-2.0
// `berth certificates`: makes and renews the webhook's certificates. A program of its own, so that
// who may tell the API server whom to ask needs no other right, and nobody else needs that one.
#pragma once

#include <string>

#include "controller/cmd/flags.h"

namespace berth {

struct CertificatesFlags {
  ConfigFlags connection;
  std::string namespace_ = "berth-system";
  KeeperFlags keeper;
  LogFlags log;
  ProbeFlags probes;
  bool print_config = false;
};
FlagTable certificates_flags(CertificatesFlags& flags);
Result<void> validate(const CertificatesFlags& flags);

int run_certificates(CertificatesFlags flags);

}  // namespace berth
