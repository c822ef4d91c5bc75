// SPDX-License-Identifier: Apache-2.0
// AdmissionReview (admission.k8s.io/v1) as the webhook receives it. Any client that reaches the
// port may send one. The body is therefore parsed once, to the last byte, and its size is checked
// before anything is built from it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apis/base/result.h"
#include "apis/codec/dom_reader.h"
#include "controller/admission/pod_slice.h"

namespace berth {

struct ReviewRequest {
  std::string uid;
  std::string group;  // of the object's kind
  std::string kind;
  std::string sub_resource;  // empty: the object itself
  std::string namespace_;
  std::string name;       // empty: the server generates it
  std::string operation;  // CREATE | UPDATE | DELETE | CONNECT
  std::string user;       // only for the log
  // The requester, by userInfo alone: any user can write an owner reference into an object.
  bool by_kubelet = false;
  bool by_daemon_set_controller = false;
};

// Whether the reviewed object is a Pod or holds a pod template; nullopt: neither.
std::optional<PodHome> pod_home(const ReviewRequest& request);

class ReviewDocument {
 public:
  explicit ReviewDocument(std::string_view body);
  ReviewDocument(const ReviewDocument&) = delete;
  ReviewDocument& operator=(const ReviewDocument&) = delete;

  // An error names the wrong field of the envelope, or says why the body is not valid JSON.
  Result<ReviewRequest> read_request();
  // request.object as a Pod, or as a Job whose template is reviewed. The result's texts are valid
  // as long as the document, which is valid until the same thread makes the next document.
  Result<PodSlice> read_pod(PodHome home) const;
  // request.oldObject, a Job.
  Result<PodSlice> read_old_job() const;
  // request.object, a Pod, with only the ephemeral containers that request.oldObject lacks.
  Result<PodSlice> read_debugged_pod() const;
  // Set by read_request(); nullopt: absent or null.
  std::optional<dom::element> object() const { return object_; }
  std::optional<dom::element> old_object() const { return old_object_; }

 private:
  std::optional<dom::parser> own_parser_;
  std::optional<dom::element> root_;  // nullopt: broken_ says why
  std::string broken_;
  std::optional<dom::element> object_;
  std::optional<dom::element> old_object_;
};

}  // namespace berth
