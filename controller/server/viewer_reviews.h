// SPDX-License-Identifier: Apache-2.0
// ViewerReviews: the questions to the API server about the owner of a token, and how to read the
// answers: TokenReview, and SubjectAccessReview of `list` on objects or `get` on a path. Pure and
// strict: any answer that is not a clear yes means no.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/kinds/meta.h"
#include "controller/client/api_request.h"

namespace berth {

// The owner of a token, as the API server knows them.
struct Viewer {
  std::string username;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;
  auto operator<=>(const Viewer&) const = default;

  // The namespace of a ServiceAccount; empty: the user is not a ServiceAccount.
  std::string namespace_() const;
  // Viewers of one party share the page's limits. The ServiceAccounts of a namespace are one party,
  // because a user who may create one may create many. Every other viewer is their own party.
  std::string party() const;
};

ApiRequest token_review(std::string_view token);
// nullopt: the token is invalid.
std::optional<Viewer> viewer_in(std::string_view answer);

// Whether the viewer may list the kind in one namespace; empty: in all.
ApiRequest access_review(const Viewer& viewer, const KindInfo& kind, std::string_view namespace_);
// Whether the viewer may `get` a non-resource path, "/metrics".
ApiRequest path_review(const Viewer& viewer, std::string_view path);
bool allowed_in(std::string_view answer);

}  // namespace berth
