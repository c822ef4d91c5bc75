// SPDX-License-Identifier: Apache-2.0
// `berth certificates`: creates and renews the webhook's certificates. A separate program, because
// a process that may change the webhook configurations should have no other rights, and no other
// process should have this one.
#pragma once

#include <string>

#include "controller/cmd/line/flags.h"

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
