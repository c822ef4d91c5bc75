// SPDX-License-Identifier: Apache-2.0
#include "controller/server/viewer_reviews.h"

#include <nlohmann/json.hpp>

namespace berth {
namespace {

using Json = nlohmann::json;

constexpr KindInfo kTokenReview{"authentication.k8s.io", "v1", "tokenreviews", "TokenReview",
                                false};
constexpr KindInfo kAccessReview{"authorization.k8s.io", "v1", "subjectaccessreviews",
                                 "SubjectAccessReview", false};

ApiRequest review(const KindInfo& kind, Json spec) {
  const Json body = {
      {"apiVersion", api_version(kind)}, {"kind", kind.kind}, {"spec", std::move(spec)}};
  return create_request(kind, {}, body.dump(-1, ' ', false, Json::error_handler_t::replace), {});
}

ApiRequest review_of(const Viewer& viewer, const char* kind_of_right, Json attributes) {
  Json spec = {{"user", viewer.username}, {kind_of_right, std::move(attributes)}};
  if (!viewer.uid.empty()) spec["uid"] = viewer.uid;
  if (!viewer.groups.empty()) spec["groups"] = viewer.groups;
  if (!viewer.extra.empty()) spec["extra"] = viewer.extra;
  return review(kAccessReview, std::move(spec));
}

// The status, if the answer is of the right kind; null: it is not.
Json status_in(const KindInfo& kind, std::string_view text) {
  const Json answer = Json::parse(text, nullptr, false);
  if (!answer.is_object() || answer.value("kind", Json()) != kind.kind) return {};
  return answer.value("status", Json());
}

bool is_true(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

std::string text_in(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// nullopt: not a list of texts.
std::optional<std::vector<std::string>> texts_in(const Json& list) {
  std::vector<std::string> out;
  if (!list.is_array()) return std::nullopt;
  for (const Json& item : list) {
    if (!item.is_string()) return std::nullopt;
    out.push_back(item.get<std::string>());
  }
  return out;
}

}  // namespace

std::string Viewer::namespace_() const {
  constexpr std::string_view kAccounts = "system:serviceaccount:";
  if (!username.starts_with(kAccounts)) return {};
  const std::string rest = username.substr(kAccounts.size());
  return rest.substr(0, rest.find(':'));
}

std::string Viewer::party() const {
  const std::string account = namespace_();
  return account.empty() ? "user:" + username : "system:serviceaccounts:" + account;
}

ApiRequest token_review(std::string_view token) { return review(kTokenReview, {{"token", token}}); }

std::optional<Viewer> viewer_in(std::string_view answer) {
  const Json status = status_in(kTokenReview, answer);
  if (!status.is_object() || !is_true(status, "authenticated") || !text_in(status, "error").empty())
    return std::nullopt;
  const Json user = status.value("user", Json());
  if (!user.is_object()) return std::nullopt;
  Viewer viewer{.username = text_in(user, "username"),
                .uid = text_in(user, "uid"),
                .groups = {},
                .extra = {}};
  if (viewer.username.empty()) return std::nullopt;
  if (const auto groups = user.find("groups"); groups != user.end()) {
    auto names = texts_in(*groups);
    if (!names) return std::nullopt;
    viewer.groups = *std::move(names);
  }
  if (const auto extra = user.find("extra"); extra != user.end()) {
    if (!extra->is_object()) return std::nullopt;
    for (const auto& [name, values] : extra->items()) {
      auto texts = texts_in(values);
      if (!texts) return std::nullopt;
      viewer.extra[name] = *std::move(texts);
    }
  }
  return viewer;
}

ApiRequest access_review(const Viewer& viewer, const KindInfo& kind, std::string_view namespace_) {
  Json attributes = {{"group", kind.group}, {"resource", kind.plural}, {"verb", "list"}};
  if (!namespace_.empty()) attributes["namespace"] = namespace_;
  return review_of(viewer, "resourceAttributes", std::move(attributes));
}

ApiRequest path_review(const Viewer& viewer, std::string_view path) {
  return review_of(viewer, "nonResourceAttributes", {{"path", path}, {"verb", "get"}});
}

bool allowed_in(std::string_view answer) {
  const Json status = status_in(kAccessReview, answer);
  return status.is_object() && is_true(status, "allowed") && !is_true(status, "denied");
}

}  // namespace berth
