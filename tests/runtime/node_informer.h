// SPDX-License-Identifier: Apache-2.0
// An informer of nodes on a transport that a test answers by hand.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "controller/runtime/informer.h"
#include "tests/runtime/world.h"

namespace berth {

inline constexpr char kNodes[] = "GET /api/v1/nodes";

inline std::string node_json(const std::string& name, const std::string& version,
                             const std::string& label = "a") {
  return R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name + R"(","uid":"uid-)" +
         name + R"(","resourceVersion":")" + version + R"(","labels":{"l":")" + label + R"("}}})";
}
inline std::string event(const std::string& type, const std::string& object) {
  return R"({"type":")" + type + R"(","object":)" + object + "}\n";
}
inline std::string bookmark(const std::string& version, bool end) {
  return event("BOOKMARK",
               R"({"kind":"Node","apiVersion":"v1","metadata":{"resourceVersion":")" + version +
                   R"(")" + (end ? R"(,"annotations":{"k8s.io/initial-events-end":"true"})" : "") +
                   "}}");
}
inline std::string list(const std::string& version, const std::string& next,
                        const std::vector<std::string>& items) {
  std::string text = R"({"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":")" +
                     version + R"(","continue":")" + next + R"("},"items":[)";
  for (std::size_t i = 0; i < items.size(); ++i) text += (i ? "," : "") + items[i];
  return text + "]}";
}

class InformerTest : public ::testing::Test {
 protected:
  InformerTest() { informer_.start(); }
  ~InformerTest() override {
    informer_.stop();
    world_.settle();
  }

  std::shared_ptr<FakeExchange> watch() {
    world_.settle();
    return world_.transport.open(kNodes);
  }
  void say(const std::string& bytes) {
    auto exchange = watch();
    ASSERT_NE(exchange, nullptr);
    exchange->bytes(bytes);
    world_.settle();
  }
  void open_with(const std::string& bytes) {
    auto exchange = watch();
    ASSERT_NE(exchange, nullptr);
    exchange->head(200);
    exchange->bytes(bytes);
    world_.settle();
  }
  std::vector<std::string> cached() {
    std::vector<std::string> names;
    for (const auto& node : cluster_.nodes())
      names.push_back(node->meta.name + "@" + node->meta.resource_version);
    return names;
  }
  std::vector<std::string> changes() { return std::exchange(changes_, {}); }

  World world_;
  ClusterState cluster_;
  std::vector<std::string> changes_;
  std::vector<std::string> fatal_;
  Informer<Node> informer_{world_.client,
                           cluster_,
                           world_.log,
                           world_.metrics,
                           "nodes",
                           {},
                           false,
                           {.on_fatal = [this](std::string why) { fatal_.push_back(why); }},
                           [this](const Node* old, const Node* now) {
                             changes_.push_back(std::string(old ? "-" : "") + (now ? "+" : "") +
                                                (now ? now : old)->meta.name);
                           },
                           7};
};

}  // namespace berth
