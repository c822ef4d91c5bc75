// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/admission_review.h"

#include <fmt/format.h>

#include <algorithm>

#include "apis/base/names.h"
#include "controller/admission/review_findings.h"

namespace berth {
namespace {

constexpr std::string_view kApiVersion = "admission.k8s.io/v1";

// The parser keeps buffers several times as large as its largest document, so a huge document gets
// a parser of its own.
constexpr std::size_t kMaxUsualBytes = 256 * 1024;

// The parser uses up to forty bytes for a value of two bytes, so a body of 7 MiB could take more
// than 100 MiB. No real object has that many values: a pod of 512 containers with every field and
// its managedFields has some 80,000.
constexpr std::size_t kMaxValues = 200'000;

constexpr std::size_t kMaxUid = 128;  // the API server's has 36 characters; the answer repeats it
constexpr std::size_t kMaxUser = 256;

dom::parser& usual_parser() {
  thread_local auto* parser = new dom::parser;  // not destroyed at exit: statics may read it
  return *parser;
}

// In JSON each value but the first follows one of these characters. In other text the count is a
// bound too.
bool has_too_many_values(std::string_view json) {
  std::size_t values = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text) {
      if (c == '\\') ++i;
      in_text = c != '"';
    } else if (c == '"') {
      in_text = true;
    } else if (c == ',' || c == '[' || c == '{') {
      if (++values > kMaxValues) return true;
    }
  }
  return false;
}

struct Envelope {
  std::string_view api_version;
  std::string_view kind;
  bool has_request = false;
};

std::optional<Error> check_envelope(const Envelope& envelope, const ReviewRequest& request) {
  if (envelope.kind != "AdmissionReview")
    return decode_error("kind", "must be AdmissionReview; this address answers nothing else");
  if (envelope.api_version != kApiVersion)
    return decode_error("apiVersion",
                        fmt::format("must be {}; write admissionReviewVersions: [v1] into the "
                                    "webhook's configuration",
                                    kApiVersion));
  if (!envelope.has_request) return decode_error("request", "is required");
  if (request.uid.empty()) return decode_error("request.uid", "is required: the answer repeats it");
  if (request.uid.size() > kMaxUid)
    return decode_error("request.uid", fmt::format("is longer than {} characters", kMaxUid));
  return std::nullopt;
}

bool read_kind(dom::element kind, ReviewRequest& request, Fault& fault) {
  return each_field(kind, fault, [&](std::string_view key, dom::element value) {
    if (key == "group") return read(value, request.group, fault);
    return key != "kind" || read(value, request.kind, fault);
  });
}

bool read_user(dom::element user, ReviewRequest& request, Fault& fault) {
  std::string_view username;
  bool of_nodes = false;
  const bool good = each_field(user, fault, [&](std::string_view key, dom::element value) {
    if (key == "username") return read(value, username, fault);
    if (key != "groups") return true;
    of_nodes = false;
    return each_item(value, kAnyNumber, fault, [&](dom::element group) {
      std::string_view name;
      if (!read(group, name, fault)) return false;
      of_nodes = of_nodes || name == names::kNodesGroup;
      return true;
    });
  });
  request.by_kubelet = of_nodes && username.starts_with(names::kNodeUserPrefix);
  request.by_daemon_set_controller = std::ranges::find(names::kDaemonSetControllers, username) !=
                                     std::ranges::end(names::kDaemonSetControllers);
  request.user = shorten(username, kMaxUser);
  return good;
}

Error error_in(std::string_view field, Fault& fault) {
  fault.under(field);
  fault.under("request");
  return fault.error();
}

std::optional<dom::element> present(dom::element value) {
  return value.is_null() ? std::nullopt : std::optional(value);
}

}  // namespace

std::optional<PodHome> pod_home(const ReviewRequest& request) {
  if (request.group.empty() && request.kind == "Pod") return PodHome::kPod;
  if (request.group == "batch" && request.kind == "Job") return PodHome::kJob;
  return std::nullopt;
}

ReviewDocument::ReviewDocument(std::string_view body) {
  const bool huge = body.size() > kMaxUsualBytes;
  if (huge && has_too_many_values(body)) {
    broken_ = fmt::format("holds more than {} values", kMaxValues);
    return;
  }
  std::string padded;
  padded.reserve(body.size() + simdjson::SIMDJSON_PADDING);
  padded.assign(body);
  dom::parser& parser = huge ? own_parser_.emplace() : usual_parser();
  dom::element root;
  const simdjson::error_code code = parser.parse(padded.data(), body.size(), false).get(root);
  if (code == simdjson::SUCCESS)
    root_ = root;
  else
    broken_ = fmt::format("is not valid JSON: {}", simdjson::error_message(code));
}

Result<ReviewRequest> ReviewDocument::read_request() {
  if (!root_) return decode_error("", broken_);
  Fault fault;
  ReviewRequest request;
  Envelope envelope;
  const auto on_request = [&](std::string_view key, dom::element value) {
    envelope.has_request = true;
    if (key == "uid") return read(value, request.uid, fault);
    if (key == "kind") return read_kind(value, request, fault);
    if (key == "subResource") return read(value, request.sub_resource, fault);
    if (key == "namespace") return read(value, request.namespace_, fault);
    if (key == "name") return read(value, request.name, fault);
    if (key == "operation") return read(value, request.operation, fault);
    if (key == "userInfo") return read_user(value, request, fault);
    if (key == "object") object_ = present(value);
    if (key == "oldObject") old_object_ = present(value);
    return true;
  };
  const auto on_root = [&](std::string_view key, dom::element value) {
    if (key == "apiVersion") return read(value, envelope.api_version, fault);
    if (key == "kind") return read(value, envelope.kind, fault);
    return key != "request" || each_field(value, fault, on_request);
  };
  if (!each_field(*root_, fault, on_root)) return fault.error();
  if (std::optional<Error> error = check_envelope(envelope, request)) return *std::move(error);
  return request;
}

Result<PodSlice> ReviewDocument::read_pod(PodHome home) const {
  Fault fault;
  PodSlice pod{.home = home};
  if (object_ && !read_pod_slice(*object_, pod, fault)) return error_in("object", fault);
  return pod;
}

Result<PodSlice> ReviewDocument::read_old_job() const {
  Fault fault;
  PodSlice job{.home = PodHome::kJob};
  if (old_object_ && !read_pod_slice(*old_object_, job, fault)) return error_in("oldObject", fault);
  return job;
}

Result<PodSlice> ReviewDocument::read_debugged_pod() const {
  Result<PodSlice> pod = read_pod(PodHome::kPod);
  if (!pod || !old_object_) return pod;
  Fault fault;
  PodSlice old;
  if (!read_pod_slice(*old_object_, old, fault)) return error_in("oldObject", fault);
  std::erase_if(pod->ephemeral, [&](const ContainerSlice& container) {
    return std::ranges::find(old.ephemeral, container.name, &ContainerSlice::name) !=
           old.ephemeral.end();
  });
  return pod;
}

}  // namespace berth
