// SPDX-License-Identifier: Apache-2.0
// The ResourceQuotas that queues keep in their namespaces: what berth writes when, and what it
// reports about those of other clients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "apis/base/names.h"
#include "apis/base/reasons.h"
#include "apis/codec/decode.h"
#include "controller/queue/admit/queue_keys.h"
#include "controller/queue/status/reconcile.h"
#include "tests/queue/queue_objects.h"

namespace berth::queue {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kGpus[] = "requests.nvidia.com/gpu";

Namespace managed(const std::string& name, const std::string& team) {
  Namespace made = namespace_of(name, team);
  made.meta.labels.set(names::kManagedLabel, "true");
  return made;
}

// Queue vision limits its namespaces to 24 GPUs each; namespace a is one of them.
class NamespaceQuotas : public ::testing::Test {
 protected:
  NamespaceQuotas() {
    add(managed("a", "vision")), add(managed("b", "nlp"));
    add(bounding("vision", {{kGpus, 24}}));
  }
  static GPUQueue bounding(const std::string& team, std::map<std::string, std::int64_t> hard) {
    GPUQueue made = queue_of(team, 8);
    made.meta.generation = 3;
    made.spec.namespace_quota = {.enabled = true, .hard = std::move(hard), .max_per_pod = {}};
    return made;
  }
  template <class T>
  void add(T object) {
    cluster.upsert(std::move(object), now);
  }
  Plan plan() { return reconcile_namespace_quotas({cluster, answers, settings, now}); }
  std::vector<std::string> lines() {
    std::vector<std::string> told;
    for (const ObjectSteps& object : plan().objects)
      for (const Step& step : object.steps)
        told.push_back(std::string(to_string(std::get<Write>(step).verb)) + " " +
                       object.object.str() + ": " + std::get<Write>(step).reason);
    return told;
  }
  // Applies the plan to the stores as the API server would.
  void carry_out() {
    for (const ObjectSteps& object : plan().objects) {
      const auto& write = std::get<Write>(object.steps.front());
      if (write.verb == Verb::kDelete) {
        cluster.erase<ResourceQuota>(object.object.namespace_, object.object.name);
        continue;
      }
      json document = write.verb == Verb::kCreate ? json::parse(write.body) : standing_;
      if (write.verb == Verb::kCreate)
        document["metadata"]["uid"] = "made";
      else
        document.merge_patch(json::parse(write.body));
      keep(document);
    }
  }
  void keep(const json& document) {
    standing_ = document;
    std::string text = document.dump();
    add(*decode_object<ResourceQuota>(text));
  }
  static ResourceQuota of_others(const std::string& name, int gpus) {
    ResourceQuota made;
    made.meta.namespace_ = "a";
    made.meta.name = made.meta.uid = name;
    made.hard.set(kGpus, Quantity::whole(gpus));
    return made;
  }
  std::optional<Condition> unmet() {
    for (const StatusUpdate& update :
         reconcile_queues({cluster, answers, settings, now}).statuses) {
      if (update.object.name != "vision" || !update.differs) continue;
      const json body = json::parse(update.body);
      for (const json& each : body["status"]["conditions"])
        if (each["type"] == "NamespaceQuotaUnmet")
          return Condition{each["type"], each["status"], each["reason"], each["message"], 0, {}};
    }
    return std::nullopt;
  }

  ClusterState cluster;
  Answers answers;
  Settings settings;
  Time now{std::chrono::hours(1)};
  json standing_;
};

TEST_F(NamespaceQuotas, EachSelectedNamespaceGetsOneThatGoesWithItsQueue) {
  EXPECT_THAT(lines(), ElementsAre("create ResourceQuota/a/berth-vision: queue vision bounds its "
                                   "namespaces"));
  carry_out();
  EXPECT_THAT(lines(), IsEmpty());
  EXPECT_EQ(standing_["spec"]["hard"], json({{kGpus, "24"}}));
  EXPECT_EQ(standing_["metadata"]["ownerReferences"],
            json::array({{{"apiVersion", "gpu.berth.dev/v1alpha1"},
                          {"kind", "GPUQueue"},
                          {"name", "vision"},
                          {"uid", "vision"}}}));
}

TEST_F(NamespaceQuotas, AnEditOfTheQueueIsCarriedOverAndBoundsThatAreGoneWithIt) {
  carry_out();
  GPUQueue edited = bounding("vision", {{"requests.nvidia.com/mig-1g.10gb", 7}});
  edited.meta.generation = 4;
  add(edited);
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("queue vision states other bounds")));
  EXPECT_THAT(plan().events, IsEmpty());
  carry_out();
  EXPECT_EQ(standing_["spec"]["hard"], json({{"requests.nvidia.com/mig-1g.10gb", "7"}}));
  EXPECT_THAT(lines(), IsEmpty());
}

TEST_F(NamespaceQuotas, WhatSomebodyEditsIsPutBackAndReported) {
  carry_out();
  json edited = standing_;
  edited["spec"]["hard"] = {{kGpus, "99"}, {"requests.nvidia.com/mig-1g.10gb", "1"}};
  keep(edited);
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("somebody has changed it")));
  ASSERT_EQ(plan().events.size(), 1U);
  EXPECT_EQ(plan().events.front().reason, reasons::kNamespaceQuotaCorrected);
  carry_out();
  EXPECT_EQ(standing_["spec"]["hard"], json({{kGpus, "24"}}));
}

TEST_F(NamespaceQuotas, ItGoesWhereTheQueueNoLongerBounds) {
  carry_out();
  Namespace moved = managed("a", "nlp");
  add(moved);
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("delete ResourceQuota/a/berth-vision")));
  add(managed("a", "vision"));
  GPUQueue off = bounding("vision", {{kGpus, 24}});
  off.spec.namespace_quota.enabled = false;
  add(off);
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("delete ResourceQuota/a/berth-vision")));
  carry_out();
  EXPECT_THAT(lines(), IsEmpty());
}

// The garbage collector removes the quota of a deleted queue, because berth may not know all queues
// yet.
TEST_F(NamespaceQuotas, WithoutItsQueueNothingIsPlannedAndTheNextOfItsNameWaits) {
  carry_out();
  cluster.erase<GPUQueue>("", "vision");
  EXPECT_THAT(lines(), IsEmpty());
  GPUQueue next = bounding("vision", {{kGpus, 8}});
  next.meta.uid = "another";
  add(next);
  EXPECT_THAT(lines(), IsEmpty());
  cluster.erase<ResourceQuota>("a", "berth-vision");
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("create ResourceQuota/a/berth-vision")));
}

TEST_F(NamespaceQuotas, AQueueInTroubleKeepsWhatStands) {
  carry_out();
  GPUQueue broken = bounding("vision", {{kGpus, 12}});
  broken.spec.quotas.front().lending_limit = 99;  // more than its quota
  add(broken);
  EXPECT_THAT(lines(), IsEmpty());
}

TEST_F(NamespaceQuotas, SystemNamespacesAreNotBounded) {
  add(managed("kube-system", "vision")), add(managed("berth-system", "vision"));
  add(managed("gpu-operator", "vision"));
  EXPECT_EQ(lines().size(), 1U);
}

TEST_F(NamespaceQuotas, ANamespaceThatHasNotOptedInIsNotBounded) {
  add(namespace_of("c", "vision"));
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("create ResourceQuota/a/berth-vision")));
  carry_out();
  add(namespace_of("a", "vision"));
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("delete ResourceQuota/a/berth-vision")));
}

TEST_F(NamespaceQuotas, OthersAreLeftAloneAndToldOfWhereTheyAreTighter) {
  carry_out();
  add(of_others("compute", 100));
  EXPECT_EQ(unmet(), std::nullopt);
  add(of_others("compute", 4));
  EXPECT_THAT(lines(), IsEmpty());
  ASSERT_TRUE(unmet());
  EXPECT_EQ(unmet()->reason, reasons::kTighterQuota);
  EXPECT_EQ(unmet()->message,
            "ResourceQuota a/compute bounds requests.nvidia.com/gpu to 4, and the queue to 24: the "
            "lower one counts; raise it, or lower namespaceQuota.hard");
}

TEST_F(NamespaceQuotas, ATakenNameIsToldAndNeverOverwritten) {
  add(of_others("berth-vision", 1));
  EXPECT_THAT(lines(), IsEmpty());
  ASSERT_TRUE(unmet());
  EXPECT_EQ(unmet()->reason, reasons::kQuotaNameTaken);
}

TEST_F(NamespaceQuotas, WhatANamespaceUsesMakesNothingDue) {
  ResourceQuota before = of_others("compute", 4), after = before;
  after.used.set(kGpus, Quantity::whole(2));
  EXPECT_THAT(queue_keys_for(cluster, settings, &before, &after), IsEmpty());
  after.hard.set(kGpus, Quantity::whole(5));
  EXPECT_THAT(queue_keys_for(cluster, settings, &before, &after),
              ElementsAre(kNamespaceQuotasKey, kQueuesKey));
}

}  // namespace
}  // namespace berth::queue
