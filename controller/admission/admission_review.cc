// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/admission_review.h"

#include <fmt/format.h>

namespace berth {
namespace {

constexpr std::string_view kApiVersion = "admission.k8s.io/v1";

// The parser keeps buffers of several times its largest document: a huge one gets its own.
constexpr std::size_t kMaxUsualBytes = 256 * 1024;

od::parser& usual_parser() {
  thread_local auto* parser = new od::parser;  // never destroyed: statics may still be read
  return *parser;
}

std::optional<Error> check_envelope(const ReviewEnvelope& envelope, const ReviewRequest& request) {
  if (envelope.kind != "AdmissionReview")
    return decode_error("kind", "must be AdmissionReview; this address answers nothing else");
  if (envelope.api_version != kApiVersion)
    return decode_error("apiVersion",
                        fmt::format("must be {}; write admissionReviewVersions: [v1] into the "
                                    "webhook's configuration",
                                    kApiVersion));
  if (!envelope.has_request) return decode_error("request", "is required");
  if (request.uid.empty()) return decode_error("request.uid", "is required: the answer repeats it");
  return std::nullopt;
}

}  // namespace

std::optional<PodHome> pod_home(const ReviewRequest& request) {
  if (request.group.empty() && request.kind == "Pod") return PodHome::kPod;
  if (request.group == "batch" && request.kind == "Job") return PodHome::kJob;
  return std::nullopt;
}

ReviewDocument::ReviewDocument(std::string_view body) {
  text_.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  text_.assign(body);
  open();
}

void ReviewDocument::open() {
  od::parser& parser = text_.size() > kMaxUsualBytes ? own_parser_.emplace() : usual_parser();
  const simdjson::padded_string_view padded(text_.data(), text_.size(), text_.capacity());
  broken_ = parser.iterate(padded).get(document_);
}

bool ReviewDocument::begin(od::value& root, Fault& fault) {
  if (broken_ != simdjson::SUCCESS) return fault.broken(broken_);
  document_.rewind();
  auto code = document_.get_value().get(root);
  return code == simdjson::SUCCESS || fault.broken(code);
}

template <class OnField>
bool ReviewDocument::each_request_field(Fault& fault, OnField&& on_field) {
  od::value root;
  return begin(root, fault) && each_field(root, fault, [&](std::string_view key, od::value value) {
           return key != "request" || each_field(value, fault, on_field);
         });
}

Result<ReviewRequest> ReviewDocument::read_request() {
  Fault fault;
  ReviewRequest request;
  ReviewEnvelope envelope;
  if (!walk(true, envelope, request, fault)) {
    // The object is at fault, or what stands around it: only the second is the review's. A document
    // that was found to be broken can't be walked again.
    fault = Fault();
    pod_.reset();
    open();
    if (!walk(false, envelope, request, fault)) return fault.error();
  }
  if (std::optional<Error> error = check_envelope(envelope, request)) return *std::move(error);
  return request;
}

bool ReviewDocument::walk(bool with_pod, ReviewEnvelope& envelope, ReviewRequest& request,
                          Fault& fault) {
  envelope = {};
  request = {};
  const auto on_kind = [&](std::string_view key, od::value value) {
    if (key == "group") return read(value, request.group, fault);
    return key != "kind" || read(value, request.kind, fault);
  };
  const auto on_request = [&](std::string_view key, od::value value) {
    envelope.has_request = true;
    if (key == "uid") return read(value, request.uid, fault);
    if (key == "kind") return each_field(value, fault, on_kind);
    if (key == "subResource") return read(value, request.sub_resource, fault);
    if (key == "namespace") return read(value, request.namespace_, fault);
    if (key == "operation") return read(value, request.operation, fault);
    if (key == "object" && with_pod) return read_pod_here(value, pod_home(request), fault);
    return true;
  };
  const auto on_root = [&](std::string_view key, od::value value) {
    if (key == "apiVersion") return read(value, envelope.api_version, fault);
    if (key == "kind") return read(value, envelope.kind, fault);
    return key != "request" || each_field(value, fault, on_request);
  };
  od::value root;
  if (!begin(root, fault) || !each_field(root, fault, on_root)) return false;
  return document_.current_location().error() == simdjson::OUT_OF_BOUNDS ||
         fault.bad("is not valid JSON: something follows its end");
}

bool ReviewDocument::read_pod_here(od::value object, std::optional<PodHome> home, Fault& fault) {
  pod_.reset();  // a second `object`: the last one counts
  if (!home) return true;
  pod_.emplace().home = *home;
  return read_pod_slice(object, *pod_, fault);
}

Result<PodSlice> ReviewDocument::read_pod(PodHome home) {
  if (pod_ && pod_->home == home) return *std::move(pod_);
  Fault fault;
  const bool good = each_request_field(fault, [&](std::string_view key, od::value value) {
    return key != "object" || read_pod_here(value, home, fault);
  });
  if (!good) return fault.error();
  if (!pod_) pod_.emplace().home = home;
  return *std::move(pod_);
}

Result<std::string_view> ReviewDocument::object_text(std::string_view field) {
  Fault fault;
  std::string_view text;
  const bool good = each_request_field(fault, [&](std::string_view key, od::value value) {
    if (key != field || is_null(value)) return true;
    od::object object;
    if (auto code = value.get_object().get(object); code != simdjson::SUCCESS)
      return fault.wrong(value, "an object", code);
    auto code = object.raw_json().get(text);
    return code == simdjson::SUCCESS || fault.broken(code);
  });
  if (!good) return fault.error();
  return text;
}

}  // namespace berth
