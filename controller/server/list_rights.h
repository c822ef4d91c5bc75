// SPDX-License-Identifier: Apache-2.0
// ListRights: which of berth's watched kinds a viewer may list, according to the API server.
//
// Loop thread only. It must outlive its requests.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apis/base/result.h"
#include "controller/client/api_client.h"
#include "controller/core/settings.h"
#include "controller/io/task.h"
#include "controller/page/viewer_rights.h"
#include "controller/server/viewer_reviews.h"

namespace berth {

class ListRights {
 public:
  struct Parts {
    ApiClient& client;
    // Namespaces that the page can name; it does not ask about others.
    std::function<std::vector<std::string>()> namespaces;
    const Settings& settings;
  };
  explicit ListRights(Parts parts) : parts_(std::move(parts)) {}
  ListRights(const ListRights&) = delete;

  Task<Result<ViewerRights>> ask(Viewer viewer, CallOptions options);

 private:
  Task<Result<bool>> allowed(Viewer viewer, KindInfo kind, std::string namespace_,
                             CallOptions options);

  const Parts parts_;
};

}  // namespace berth
