// SPDX-License-Identifier: Apache-2.0
// View: an index that one folder derives from the stores and updates with each change, instead of
// searching the stores each time. Its class belongs to that folder. It must be
// default-constructible and have a follow(const Change<T>&) for each kind that it uses.
// ClusterState knows no view class: it builds a view at the first call, updates it from then on,
// and copies it with itself. If a view can't be copied, the copy of the ClusterState builds its own
// at the first call.
//
// A view is a function of the stores: updated by changes or built again, it says the same
// (tests/mig/views_test.cc). It may hold pointers to objects in the stores: copies of the stores
// share the objects.
#pragma once

#include <concepts>
#include <memory>
#include <typeindex>
#include <utility>
#include <variant>
#include <vector>

#include "apis/kinds/watched_kinds.h"

namespace berth {

template <class T>
struct Change {
  const T* old = nullptr;  // the old version, valid until follow() returns; null: the object is new
  const T* now = nullptr;  // the version now in the store; null: the object was deleted
  // False: the same facts, whatever the resourceVersion. The pointer is another one all the same.
  bool news = true;
};
using AnyChange = Watched::Map<std::variant, Change>;

template <class View, class T>
concept Follows = requires(View& view, const Change<T>& change) {
  view.follow(change);
};

// All views, by class.
class Views {
 public:
  Views() = default;
  Views(const Views& other) {
    kept_.reserve(other.kept_.size());
    for (const auto& [type, view] : other.kept_)
      if (auto copy = view->copy()) kept_.emplace_back(type, std::move(copy));
  }
  Views(Views&&) = default;
  Views& operator=(Views other) {
    kept_.swap(other.kept_);
    return *this;
  }

  template <class View>
  const View* find() const {
    for (const auto& [type, view] : kept_)
      if (type == typeid(View)) return &static_cast<const Kept<View>&>(*view).view;
    return nullptr;
  }
  template <class View>
  const View& add(View view) {
    auto kept = std::make_unique<Kept<View>>(std::move(view));
    const View& added = kept->view;
    kept_.emplace_back(typeid(View), std::move(kept));
    return added;
  }
  void follow(const AnyChange& change) {
    for (auto& [type, view] : kept_) view->follow(change);
  }

 private:
  struct AnyView {
    virtual ~AnyView() = default;
    virtual std::unique_ptr<AnyView> copy() const = 0;  // null: not copyable
    virtual void follow(const AnyChange& change) = 0;
  };
  template <class View>
  struct Kept final : AnyView {
    explicit Kept(View made) : view(std::move(made)) {}
    std::unique_ptr<AnyView> copy() const override {
      if constexpr (std::copy_constructible<View>) return std::make_unique<Kept>(view);
      return nullptr;
    }
    void follow(const AnyChange& change) override {
      std::visit(
          [this]<class T>(const Change<T>& one) {
            if constexpr (Follows<View, T>) view.follow(one);
          },
          change);
    }
    View view;
  };

  std::vector<std::pair<std::type_index, std::unique_ptr<AnyView>>> kept_;  // a handful
};

}  // namespace berth
