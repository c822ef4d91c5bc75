// SPDX-License-Identifier: Apache-2.0
// RereadFile: the text of a file that is replaced at run time: tokens every hour, certificates
// every few months. It is reread at its first use after max_age. If it can't be read, or is empty,
// the last good text remains.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "controller/io/host.h"
#include "controller/io/log.h"
#include "controller/io/loop.h"

namespace berth {

class RereadFile {
 public:
  RereadFile(const Loop& loop, const Host& host, Log& log, std::string path,
             std::chrono::nanoseconds max_age);

  const std::string& text();
  // Reads now, whatever the text's age. True: the text has changed.
  bool refresh();

 private:
  const Loop& loop_;
  const Host& host_;
  Log& log_;
  std::string path_;
  std::chrono::nanoseconds max_age_;
  std::string text_;
  std::optional<MonotonicTime> read_at_;
  bool failing_ = false;  // so that a lasting failure is logged only once
};

}  // namespace berth
