// SPDX-License-Identifier: Apache-2.0
#include "controller/queue/recall/owner_looks.h"

#include <fmt/format.h>

#include <set>
#include <tuple>
#include <utility>

#include "controller/queue/index/remakers.h"

namespace berth::queue {
namespace {

// berth keeps a refusal longer than the time after which it asks again. So the reason for a pod
// that stays does not disappear in between.
constexpr int kRefusalLasts = 2;

Guard look_at(const OwnerKind& kind, OwnedPod pod) {
  Guard look;
  look.node = {std::string(kind.info.kind), pod.namespace_, pod.owner.name.str(),
               pod.owner.uid.str()};
  look.question = pod.role.empty() ? "does it create its pods again"
                                   : fmt::format("does it create its {} pods again", pod.role);
  look.kind = &kind.info;
  look.refuse_object = [&kind, pod = std::move(pod)](const Result<std::string>& object) {
    return why_owner_fails(kind, pod, object);
  };
  return look;
}

class Looker {
 public:
  explicit Looker(const Snapshot& snapshot) : snapshot_(snapshot), remakers_(snapshot.cluster) {}

  void take(const berth::Pod& pod) {
    const OwnerKind* kind = remakers_.judge(pod).read_first;
    if (kind == nullptr) return;
    OwnedPod owned = owned_pod(pod);
    if (!seen_.emplace(owned.owner.uid.str(), owned.role).second) return;
    if (snapshot_.offline) return take_unread(*kind, pod, owned);
    out_.all.push_back(look_at(*kind, std::move(owned)));
    const Guard& look = out_.all.back();
    const Duration ttl = snapshot_.settings.answer_ttl;
    const Answer* answer =
        snapshot_.answers.find(berth::question(look), snapshot_.now, kRefusalLasts * ttl);
    if (answer == nullptr || snapshot_.now - answer->at > ttl) out_.open.push_back(look);
    if (answer != nullptr && !answer->yes) keep(pod, answer->error.message, answer->times);
  }
  OwnerLooks finish() { return std::move(out_); }

 private:
  // A pod of a Kubeflow job that does not restart usually ends its job.
  void take_unread(const OwnerKind& kind, const berth::Pod& pod, const OwnedPod& owned) {
    if (kind.then == AfterEviction::kByPolicy) keep(pod, why_unread_owner_may_fail(kind, owned), 1);
  }
  void keep(const berth::Pod& pod, std::string why, int times) {
    if (out_.kept != nullptr) return;
    out_.kept = &pod;
    out_.times = times;
    out_.why = std::move(why);
  }

  const Snapshot& snapshot_;
  Remakers remakers_;
  std::set<std::pair<std::string, std::string>> seen_;  // controllers' uids and roles
  OwnerLooks out_;
};

}  // namespace

OwnerLooks look_at_owners(const Snapshot& snapshot, const std::vector<const berth::Pod*>& pods) {
  Looker looker(snapshot);
  for (const berth::Pod* pod : pods)
    if (!pod->terminating()) looker.take(*pod);
  return looker.finish();
}

void plan_open_looks(const OwnerLooks& looks, Plan& plan) {
  for (const Guard& look : looks.open)
    if (!plan.has_steps(look.node)) plan.add(look.node, look);
}

void guard_by_looks(const OwnerLooks& looks, const ObjectRef& object, Plan& plan) {
  for (const Guard& look : looks.all) plan.add(object, look);
}

}  // namespace berth::queue
