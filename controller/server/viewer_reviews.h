// SPDX-License-Identifier: Apache-2.0
// ViewerReviews: what the API server is asked about whoever shows a token, and how its answers are
// read: TokenReview, and SubjectAccessReview of `list` on objects or of `get` on a path. Pure, and
// strict: an answer that is not plainly yes is no.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apis/meta.h"
#include "controller/client/api_request.h"

namespace berth {

// Whose token it is, as the API server knows him.
struct Viewer {
  std::string username;
  std::string uid;
  std::vector<std::string> groups;
  std::map<std::string, std::vector<std::string>> extra;
  auto operator<=>(const Viewer&) const = default;

  // Of a ServiceAccount; empty: he is none.
  std::string namespace_() const;
  // With whom he shares what the page has for many: the ServiceAccounts of a namespace are one
  // party, because whoever may create one there may create many. Everybody else is one of his own.
  std::string party() const;
};

ApiRequest token_review(std::string_view token);
// Nothing: it is nobody's.
std::optional<Viewer> viewer_in(std::string_view answer);

// Whether he may list the kind, in one namespace or, where that is empty, everywhere.
ApiRequest access_review(const Viewer& viewer, const KindInfo& kind, std::string_view namespace_);
// Whether they may `get` a path that is no resource: "/metrics".
ApiRequest path_review(const Viewer& viewer, std::string_view path);
bool allowed_in(std::string_view answer);

}  // namespace berth
