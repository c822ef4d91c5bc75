// SPDX-License-Identifier: Apache-2.0
// PodPatch: a JSON patch of additions. No array is ever replaced: what other webhooks and the
// server have put there stays, in its place. A patch of more than a megabyte is none: etcd would
// not take the pod.
#pragma once

#include <string>
#include <string_view>

namespace berth {

class PodPatch {
 public:
  // An object's member, which it replaces, or with a path that ends in /- an item of a list.
  void add(std::string_view path, std::string_view json_value) { append("add", path, json_value); }
  void add_text(std::string_view path, std::string_view text);
  void remove(std::string_view path) { append("remove", path, {}); }
  void append(const PodPatch& more);

  // Whoever sees this throws the patch away.
  bool too_large() const { return too_large_; }
  bool empty() const { return operations_.empty(); }
  std::string str() const { return "[" + operations_ + "]"; }

 private:
  void append(std::string_view op, std::string_view path, std::string_view json_value);
  std::string operations_;
  bool too_large_ = false;
};

}  // namespace berth
