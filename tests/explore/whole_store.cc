// SPDX-License-Identifier: Apache-2.0
#include "tests/explore/whole_store.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <stdexcept>

#include "apis/codec/decode.h"

namespace berth::explore {
namespace {

template <class T>
void read_all(const sim::Store& store, Time wall, ClusterState& cluster) {
  const sim::ResourceType* type = sim::find_resource_type(kKind<T>.plural);
  if (type == nullptr) return;  // the simulation does not serve this kind
  for (const sim::ObjectPtr& object : store.list(*type)) {
    std::string text = object->dump();
    Result<T> read = decode_object<T>(text);
    if (!read) throw std::runtime_error(fmt::format("{}: {}", text, describe(read.error())));
    cluster.upsert(*std::move(read), wall);
  }
}

}  // namespace

void read_whole(const sim::Store& store, Time wall, ClusterState& cluster) {
  Watched::each([&]<class T>() { read_all<T>(store, wall, cluster); });
}

}  // namespace berth::explore
