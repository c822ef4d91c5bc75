// SPDX-License-Identifier: Apache-2.0
// History: records for `berth history` what berth did and why workloads waited, in ConfigMaps
// berth-history-… (history_chunk.h). The leader notes lines and writes them in batches: at most
// twice a minute on average, and once more at an orderly shutdown. It retries a failed write
// together with newer lines. A new leader continues where the last one stopped.
//
// Loop thread only. It must live until finish() has returned.
#pragma once

#include <array>
#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <unordered_map>

#include "apis/kinds/core.h"
#include "controller/client/api_client.h"
#include "controller/client/token_bucket.h"
#include "controller/core/plan.h"
#include "controller/history/history_chunk.h"
#include "controller/io/log.h"
#include "controller/io/task.h"
#include "controller/io/task_group.h"
#include "controller/runtime/flood_gate.h"
#include "controller/runtime/origin.h"

namespace berth {

class History {
 public:
  struct Parts {
    ApiClient& client;
    Log& log;
    std::string namespace_;
    bool keeps;  // false: waits are only logged, and nothing is written
    // How long this process may still start writes; zero: not at all.
    std::function<std::chrono::nanoseconds()> time_left;
  };
  static constexpr std::chrono::seconds kBatch{30};

  explicit History(Parts parts);

  // Call it when this process starts to lead.
  void start();
  // Notes the line with the present time, unless its object's last line said the same. It also logs
  // why an object waits.
  void note(HistoryLine line);
  void note_write(const Origin& origin, const Write& write);
  // Stops noting lines. If in_order, it first writes the lines that are left.
  Task<void> finish(bool in_order);

 private:
  Task<void> run();
  // Writes the noted lines; false: retry later.
  Task<bool> flush(std::stop_token stop);
  Task<std::optional<Error>> load(std::stop_token stop);
  Task<std::optional<Error>> write_fresh(std::stop_token stop);
  bool is_new(const HistoryLine& line);
  void log_wait(const HistoryLine& line);
  struct Packed {
    HistoryChunk chunk;
    std::size_t fresh_from = 0;                              // where the fresh lines begin
    std::optional<std::map<std::string, std::string>> data;  // data of its ConfigMap
  };
  // Takes the fresh lines and, where they are put behind them, the newest chunk's: what waits for a
  // reply is there once.
  Packed pack_fresh();
  void put_back(HistoryChunk chunk, std::size_t fresh_from);
  void bound_fresh();
  void tell_failure(const Error& error);
  CallOptions call_options(std::stop_token stop) const;

  Parts parts_;
  Loop& loop_;
  TaskGroup tasks_;
  bool noting_ = false;
  // The newest chunk in the cluster, and each ConfigMap's version, once loaded.
  bool loaded_ = false;
  HistoryChunk chunk_;
  std::array<std::optional<ConfigMap>, kHistoryChunks> places_;  // without their data
  std::string fresh_;                                            // not yet written
  std::uint64_t lost_ = 0;                                       // lines dropped for lack of memory
  bool failing_ = false;
  std::stop_source full_;  // wakes run() before the batch's time
  TokenBucket writes_;
  FloodGate gate_;
  // By hash of the object: the hash of what its last line said.
  std::unordered_map<std::size_t, std::size_t> latest_;
};

}  // namespace berth
