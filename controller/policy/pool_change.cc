// SPDX-License-Identifier: Apache-2.0
#include "controller/policy/pool_change.h"

#include "apis/base/names.h"
#include "controller/policy/forbidden_keys.h"

namespace berth {
namespace {

class Comparison {
 public:
  Comparison(const Node& node, const PoolIntent* intent, const WritableKeys& may, Retreat retreat)
      : node_(node), intent_(intent), may_(may), retreat_(retreat) {
    text_ = node.meta.annotations.find(names::kPoolKeysAnnotation);
    if (text_ != nullptr) record_ = decode_pool_keys(text_->view());
    unreadable_ = !record_ && text_ != nullptr;
  }

  PoolChange compute() {
    if (intent_ != nullptr) {
      next_.pool = intent_->pool;
      for (const auto& [item, value] : intent_->items) want(item, value);
    }
    retreat();
    count_corrections();
    if (intent_ != nullptr || !next_.items.empty()) change_.record = encode_pool_keys(next_);
    change_.record_differs =
        change_.record ? text_ == nullptr || text_->view() != *change_.record : text_ != nullptr;
    return std::move(change_);
  }

 private:
  // A key of berth's own prefix: berth decides its value, also over the value of another writer.
  static bool own(const PoolItem& item) { return item.key == names::kPoolLabel; }

  const Text* recorded(const PoolItem& item) const {
    if (!record_) return nullptr;
    const auto found = record_->items.find(item);
    return found == record_->items.end() ? nullptr : &found->second;
  }

  void want(const PoolItem& item, const Text& value) {
    const std::optional<Text> now = shown(node_, item);
    const Text* put = recorded(item);
    const bool ours = put != nullptr || unreadable_ || !now || (own(item) && *now != value);
    if (!ours) {
      // Another writer set this key. If the value is the same, all is well, and it stays when the
      // pool goes. This includes the pool label that an autoscaler's template gives to its nodes.
      if (*now != value) change_.foreign.push_back(item);
      return;
    }
    if (now != value && !may_write(may_, item)) return hold(item, now);
    next_.items[item] = value;
    if (now == value) return;
    // berth had set this value, and another writer has changed it since.
    if (put != nullptr && *put == value) {
      if (record_->corrections >= kMaxCorrections) {
        change_.contested.push_back(item);
        return;
      }
      change_.corrected.push_back(item);
    }
    change_.edits.push_back({item, now, value});
  }

  // The record of what berth had set stays, so that berth can remove it as soon as it may.
  void hold(const PoolItem& item, const std::optional<Text>& now) {
    change_.forbidden.push_back(item);
    const Text* put = recorded(item);
    if (put == nullptr || now != *put) return;
    next_.items[item] = *put;
    if (next_.pool.empty()) next_.pool = record_->pool;
  }

  // Removes what berth had set and no pool wants any more, if it is unchanged.
  void retreat() {
    const auto take = [&](const PoolItem& item, const Text& put) {
      if (next_.items.contains(item)) return;
      const std::optional<Text> now = shown(node_, item);
      if (!now || (*now != put && !own(item))) return;
      if (!may_write(may_, item)) return hold(item, now);
      if (retreat_ == Retreat::kLater) return keep(item, put);
      change_.edits.push_back({item, now, std::nullopt});
    };
    if (record_)
      for (const auto& [item, put] : record_->items) take(item, put);
    else if (unreadable_)  // only berth writes the annotation, so the label is berth's too
      take({Text(names::kPoolLabel), {}}, {});
  }

  void keep(const PoolItem& item, const Text& put) {
    change_.kept.push_back(item);
    next_.items[item] = put;
  }

  void count_corrections() {
    if (record_ && record_->pool == next_.pool && record_->items == next_.items)
      next_.corrections = record_->corrections;
    if (!change_.corrected.empty()) ++next_.corrections;
  }

  const Node& node_;
  const PoolIntent* intent_;
  const WritableKeys& may_;
  const Retreat retreat_;
  const Text* text_ = nullptr;
  std::optional<PoolKeys> record_;
  bool unreadable_ = false;
  PoolKeys next_;
  PoolChange change_;
};

}  // namespace

PoolChange compute_pool_change(const Node& node, const PoolIntent* intent, const WritableKeys& may,
                               Retreat retreat) {
  return Comparison(node, intent, may, retreat).compute();
}

}  // namespace berth
