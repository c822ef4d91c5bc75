// SPDX-License-Identifier: Apache-2.0
// AdmissionReview (admission.k8s.io/v1) as it comes. Anybody who reaches the port may have sent it:
// it is parsed once, to the last byte, and is bounded before anything is made of it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apis/dom_reader.h"
#include "apis/result.h"
#include "controller/admission/pod_slice.h"

namespace berth {

struct ReviewRequest {
  std::string uid;
  std::string group;  // of the object's kind
  std::string kind;
  std::string sub_resource;  // empty: the object itself
  std::string namespace_;
  std::string name;       // empty: the server is to make one
  std::string operation;  // CREATE | UPDATE | DELETE | CONNECT
  std::string user;       // for the log alone
  // Who asks, by userInfo alone: what an object says of its owner, anybody may write.
  bool by_kubelet = false;
  bool by_daemon_set_controller = false;
};

// Where the pod stands in what is reviewed; nothing: it holds none.
std::optional<PodHome> pod_home(const ReviewRequest& request);

class ReviewDocument {
 public:
  explicit ReviewDocument(std::string_view body);
  ReviewDocument(const ReviewDocument&) = delete;
  ReviewDocument& operator=(const ReviewDocument&) = delete;

  // An error is a sentence about the envelope, or about JSON that is none.
  Result<ReviewRequest> read_request();
  // request.object as a Pod, or as a Job of which the template is looked at. Its texts live as long
  // as the document, which lives until the thread's next one.
  Result<PodSlice> read_pod(PodHome home) const;
  // request.oldObject, a Job.
  Result<PodSlice> read_old_job() const;
  // request.object, a Pod, with those of its ephemeral containers that request.oldObject lacks.
  Result<PodSlice> read_debugged_pod() const;
  // After read_request(); nothing: absent or null.
  std::optional<dom::element> object() const { return object_; }
  std::optional<dom::element> old_object() const { return old_object_; }

 private:
  std::optional<dom::parser> own_parser_;
  std::optional<dom::element> root_;  // nothing: broken_ says why
  std::string broken_;
  std::optional<dom::element> object_;
  std::optional<dom::element> old_object_;
};

}  // namespace berth
