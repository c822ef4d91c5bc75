// SPDX-License-Identifier: Apache-2.0
// ServerSide: the real etcd and kube-apiserver. One per thread, like the client in it.
#pragma once

#include "tests/support/kube.h"
#include "tests/truth/side.h"

namespace berth::truth {

class ServerSide : public Side {
 public:
  explicit ServerSide(const test::Credentials& credentials) : kube_(credentials, "script") {}
  // Throws std::runtime_error if there is no answer at all.
  Answer answer(const Operation& operation, const Request& request) override;

 private:
  Answer watched(const Request& request);
  void catch_up(const Request& list);
  void await_class(const std::string& name);
  void await_quotas();

  test::Kube kube_;
  std::string beacon_;  // a namespace with a quota of its own; empty: not created yet
  int lit_ = 0;
};

}  // namespace berth::truth
