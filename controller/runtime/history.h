// SPDX-License-Identifier: Apache-2.0
// History: what berth did and why it waited, kept in ConfigMaps berth-history-… (history_chunk.h)
// for `berth history`. The leader notes lines and writes them in batches: twice a minute on average
// at most, and once more when it ends in order. A write that fails is sent again with what came
// since. A new leader goes on where the last one stopped.
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

#include "apis/core.h"
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
    bool keeps;  // false: why things wait is logged, and nothing is written
    // How long writes may be started yet; zero: not at all.
    std::function<std::chrono::nanoseconds()> time_left;
  };
  static constexpr std::chrono::seconds kBatch{30};

  explicit History(Parts parts);

  // This process leads from now on.
  void start();
  // Notes it with the time that it is; what its object's last line said already is dropped. Why
  // something waits is logged, too.
  void note(HistoryLine line);
  void note_write(const Origin& origin, const Write& write);
  // No line is noted any more. In order: what is not written yet is.
  Task<void> finish(bool in_order);

 private:
  Task<void> run();
  // Writes what has been noted; false: it is to be tried again.
  Task<bool> flush(std::stop_token stop);
  Task<std::optional<Error>> load(std::stop_token stop);
  Task<std::optional<Error>> write_fresh(std::stop_token stop);
  bool is_new(const HistoryLine& line);
  void log_wait(const HistoryLine& line);
  struct Packed {
    HistoryChunk chunk;
    std::size_t fresh_from = 0;                              // where lines begin that were fresh
    std::optional<std::map<std::string, std::string>> data;  // of its ConfigMap
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
  // What stands in the cluster, once that is known: the newest chunk, and each place's version.
  bool loaded_ = false;
  HistoryChunk chunk_;
  std::array<std::optional<ConfigMap>, kHistoryChunks> places_;  // without their data
  std::string fresh_;                                            // not written yet
  std::uint64_t lost_ = 0;  // lines that there was no memory for
  bool failing_ = false;
  std::stop_source full_;  // wakes run() before the batch is due
  TokenBucket writes_;
  FloodGate gate_;
  // Hashes, by object: what its last line said.
  std::unordered_map<std::size_t, std::size_t> latest_;
};

}  // namespace berth
