// SPDX-License-Identifier: Apache-2.0
// World: the shell's surroundings in a test: virtual clock, scripted transport, recorded log.
#pragma once

#include <string>
#include <vector>

#include "controller/client/api_client.h"
#include "controller/runtime/metrics.h"
#include "tests/client/fake_transport.h"
#include "tests/io/fake_loop.h"
#include "tests/io/recording_log.h"

namespace berth {

struct World {
  FakeLoop loop;
  FakeTransport transport{loop};
  RecordingLog log;
  Metrics metrics{"test"};
  ApiClient client{loop, transport, log, {"test", "controller"}};

  // Lets everything happen that is due now.
  void settle() { loop.run_for(std::chrono::nanoseconds(0)); }
  // "METHOD path" of every exchange, queries left out.
  std::vector<std::string> sent() const {
    std::vector<std::string> names;
    for (const auto& exchange : transport.exchanges) names.push_back(exchange->name());
    return names;
  }
  std::size_t count(const std::string& name) const {
    std::size_t count = 0;
    for (const auto& exchange : transport.exchanges) count += exchange->name() == name ? 1 : 0;
    return count;
  }
};

inline std::string status_json(int code, const std::string& reason,
                               const std::string& message = "no") {
  return R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":")" + reason +
         R"(","message":")" + message + R"(","code":)" + std::to_string(code) + "}";
}

}  // namespace berth
