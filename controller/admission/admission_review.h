// SPDX-License-Identifier: Apache-2.0
// AdmissionReview (admission.k8s.io/v1) as it comes: the envelope is read first, then, of the
// object inside, what the kind needs. API servers write the envelope first, so that one walk over
// the text is enough; fields in another order cost a second one. It is never made into a document.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "apis/json_reader.h"
#include "apis/result.h"
#include "controller/admission/pod_slice.h"

namespace berth {

struct ReviewRequest {
  std::string uid;
  std::string group;  // of the object's kind
  std::string kind;
  std::string sub_resource;  // empty: the object itself
  std::string namespace_;
  std::string operation;  // CREATE | UPDATE | DELETE | CONNECT
};

// Where the pod stands in what is reviewed; nothing: it holds none.
std::optional<PodHome> pod_home(const ReviewRequest& request);

struct ReviewEnvelope {
  std::string api_version;
  std::string kind;
  bool has_request = false;
};

class ReviewDocument {
 public:
  explicit ReviewDocument(std::string_view body);
  ReviewDocument(const ReviewDocument&) = delete;
  ReviewDocument& operator=(const ReviewDocument&) = delete;

  // An error is a sentence about the envelope.
  Result<ReviewRequest> read_request();
  // request.object as a Pod, or as a Job of which the template is looked at; once. Its texts live
  // as long as the document.
  Result<PodSlice> read_pod(PodHome home);
  // The JSON of request.object or request.oldObject; empty if it is absent or null.
  Result<std::string_view> object_text(std::string_view field);

 private:
  void open();
  // The value of the whole text, from its beginning.
  bool begin(od::value& root, Fault& fault);
  // The envelope, and the pod too where it comes behind what says that it is one.
  bool walk(bool with_pod, ReviewEnvelope& envelope, ReviewRequest& request, Fault& fault);
  bool read_pod_here(od::value object, std::optional<PodHome> home, Fault& fault);
  // Calls on_field(key, value) for each field of `request`.
  template <class OnField>
  bool each_request_field(Fault& fault, OnField&& on_field);

  std::string text_;
  std::optional<od::parser> own_parser_;
  od::document document_;
  simdjson::error_code broken_ = simdjson::SUCCESS;
  std::optional<PodSlice> pod_;
};

}  // namespace berth
