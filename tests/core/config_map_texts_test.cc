// SPDX-License-Identifier: Apache-2.0
#include "controller/core/config_map_texts.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

ConfigMap standing_texts(std::map<std::string, std::string> data) {
  ConfigMap made;
  made.meta.namespace_ = "berth-system";
  made.meta.name = "ledger";
  made.meta.uid = "u1";
  made.meta.resource_version = "7";
  made.data = std::move(data);
  return made;
}

TEST(ConfigMapTexts, AreCreatedWhereNoneStand) {
  const Write write = write_texts({"berth-system", "ledger"}, "berth-mig", nullptr,
                                  {{"a", "1"}, {"b", "say \"x\""}}, "keep count");
  EXPECT_EQ(write.verb, Verb::kCreate);
  EXPECT_EQ(write.object, (ObjectRef{"ConfigMap", "berth-system", "ledger", ""}));
  EXPECT_EQ(write.field_manager, "berth-mig");
  EXPECT_EQ(write.reason, "keep count");
  EXPECT_EQ(write.body,
            R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"ledger",)"
            R"("namespace":"berth-system","labels":{"app.kubernetes.io/managed-by":"berth"}},)"
            R"("data":{"a":"1","b":"say \"x\""}})");
}

TEST(ConfigMapTexts, WhatDiffersIsWrittenOverTheVersionThatWasRead) {
  const ConfigMap standing =
      standing_texts({{"same", "1"}, {"other", "2"}, {"gone", "3"}, {"gone too", "4"}});
  const Write write = write_texts({"berth-system", "ledger"}, "berth-mig", &standing,
                                  {{"same", "1"}, {"other", "5"}, {"new", "6"}}, "keep count");
  EXPECT_EQ(write.verb, Verb::kMergePatch);
  EXPECT_EQ(write.object, (ObjectRef{"ConfigMap", "berth-system", "ledger", "u1"}));
  EXPECT_EQ(write.body, R"({"metadata":{"uid":"u1","resourceVersion":"7"},)"
                        R"("data":{"new":"6","other":"5","gone":null,"gone too":null}})");
}

TEST(ConfigMapTexts, WhereNothingDiffersNothingIsWrittenOver) {
  const ConfigMap standing = standing_texts({{"same", "1"}});
  EXPECT_EQ(write_texts({"berth-system", "ledger"}, "m", &standing, {{"same", "1"}}, "r").body,
            R"({"metadata":{"uid":"u1","resourceVersion":"7"},"data":{}})");
}

}  // namespace
}  // namespace berth
