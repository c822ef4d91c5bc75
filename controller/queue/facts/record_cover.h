// SPDX-License-Identifier: Apache-2.0
// RecordCover: which of the requests of a workload's pods its admission record covers. It compares
// extended resources, which quotas count, seat by seat. A record covers only what it was written
// for. A pod that requests more is not released by it, and what runs beyond it is charged in
// addition (rule 1).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/queue/facts/node_room.h"
#include "controller/queue/facts/workload.h"

namespace berth::queue {

// Whether a later berth wrote the record, so that this one can't know what it means.
bool is_newer(const AdmissionFact& admission);
// Returns the latest version on the workload's objects, its ledger entry or its marks, if it is
// newer than this berth knows; nothing otherwise.
std::optional<std::int64_t> newer_version(const Workload& workload);

// Returns the requests of all pods of the admission together. A record of an earlier berth has no
// shapes. Then these are its amounts, and any GPU resources may make up an amount of the class
// `gpu`. Resources that no quota covered then are unknown and not limited.
Amounts total_of(const AdmissionFact& admission);
// Whether what the record covers depends on the current GPU weights of resources.
bool goes_by_worth(const AdmissionFact& admission);

// CoverLeft: the rest of a sum of resources.
class CoverLeft {
 public:
  // Starts with `pods` of `of` parts of `asks`, rounded up, from a record with or without shapes.
  CoverLeft(const Amounts& asks, bool has_shapes, std::int64_t pods, std::int64_t of, PoolId pool,
            const Catalog& catalog, const NodeRoom& room);

  // Returns how much more of each extended resource is requested than is left. The class `gpu` is
  // in millionths.
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

// The free seats of a gang's record.
class SeatsLeft {
 public:
  SeatsLeft(const AdmissionFact& admission, const Catalog& catalog, const NodeRoom& room);

  // Seats the pod whatever it requests: in the first place that covers it, or else in the last one
  // left.
  void occupy(const Pod& pod);
  // Seats the pod in the first place that covers it. Returns whether there is one.
  bool seat(const Pod& pod);

 private:
  struct Places {  // equal places
    Vector asks;   // per pod
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
  CoverLeft together_;  // for a record without shapes
  std::map<std::string, Seat, std::less<>> seats_;
};

// Returns what the pods that are not gated request beyond the part of the record for `pods` pods.
// `leaving` of these are being deleted.
std::vector<Beyond> beyond_record(const AdmissionFact& admission, std::int64_t pods,
                                  std::int64_t leaving, const PodsOfWorkload& living,
                                  Catalog& catalog, const NodeRoom& room);

}  // namespace berth::queue
