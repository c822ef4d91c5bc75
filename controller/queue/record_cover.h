// SPDX-License-Identifier: Apache-2.0
// What an admission's record covers of what the pods of its workload ask: of the extended
// resources, which quotas count, so much for each seat. A record holds for what it was written for:
// who asks for more is not released by it, and what runs beyond it is charged besides (rule 1).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/queue/node_room.h"
#include "controller/queue/workload.h"

namespace berth::queue {

// Whether the record was written by a later berth, so that this one can't know what it means.
bool is_newer(const AdmissionFact& admission);
// The latest version that the workload's objects, its entry in the ledger or its marks have, if
// this berth does not know it; else nothing.
std::optional<std::int64_t> newer_version(const Workload& workload);

// What all its pods ask together. If the record has no shapes, as an earlier berth wrote it, these
// are its amounts: where one is of the class `gpu`, any GPU resources may make it up. What no quota
// covered then is not known of it, and not bound.
Amounts total_of(const AdmissionFact& admission);
// Whether what such a record covers depends on what the pieces of GPU resources are worth now.
bool goes_by_worth(const AdmissionFact& admission);

// What is left of a sum of resources.
class CoverLeft {
 public:
  // `pods` of `of` parts of what is asked, rounded up, by a record that has shapes or has none.
  CoverLeft(const Amounts& asks, bool has_shapes, std::int64_t pods, std::int64_t of, PoolId pool,
            const Catalog& catalog, const NodeRoom& room);

  // How much more of each extended resource is asked than is left; of the class `gpu` in
  // millionths.
  Vector lacking(const Vector& asks) const;
  void take(const Vector& asks);

 private:
  std::int64_t worth(const Vector& asks) const;

  bool has_shapes_;
  PoolId pool_;
  const Catalog& catalog_;
  const NodeRoom& room_;
  std::map<ResourceId, std::int64_t> left_;
};

// The places of a gang's record that nobody has taken.
class SeatsLeft {
 public:
  SeatsLeft(const AdmissionFact& admission, const Catalog& catalog, const NodeRoom& room);

  // Whatever it asks: the first place that covers it, or else the last that is left.
  void occupy(const Pod& pod);
  // Gives the pod the first place that covers it, if there is one.
  bool seat(const Pod& pod);

 private:
  struct Places {  // that are alike
    Vector asks;   // of each
    std::int64_t pods = 0;
  };
  struct Seat {
    std::int64_t pods = 0;
    std::vector<Places> places;
  };
  Seat* find(const Pod& pod);
  bool covers(const Places& places, const Vector& asks) const;
  void take(Seat& seat, Places* places, const Vector& asks);

  const AdmissionFact& admission_;
  const Catalog& catalog_;
  CoverLeft together_;  // of a record without shapes
  std::map<std::string, Seat, std::less<>> seats_;
};

// What the pods that are not gated ask beyond what the record covers of `pods` pods. `leaving` of
// these are being deleted.
std::vector<Beyond> beyond_record(const AdmissionFact& admission, std::int64_t pods,
                                  std::int64_t leaving, const PodsOfWorkload& living,
                                  Catalog& catalog, const NodeRoom& room);

}  // namespace berth::queue
