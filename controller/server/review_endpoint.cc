// SPDX-License-Identifier: Apache-2.0
#include "controller/server/review_endpoint.h"

#include <algorithm>
#include <utility>

namespace berth {
namespace {

HttpResponse refused(int status, std::string why) {
  HttpResponse response;
  response.status = status;
  response.body = std::move(why) + "\n";
  return response;
}

bool same(std::string_view a, std::string_view b) {  // ignores the case of ASCII letters
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

// The text before `mark`, without blanks around it; removes it and the mark. Without a mark: all of
// the text.
std::string_view cut_off(std::string_view& text, char mark) {
  std::string_view part = text.substr(0, text.find(mark));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!part.empty() && blank(part.front())) part.remove_prefix(1);
  while (!part.empty() && blank(part.back())) part.remove_suffix(1);
  return part;
}

// JSON is UTF-8. With another charset, the text would mean other characters.
bool is_json(std::string_view content_type) {
  if (!same(cut_off(content_type, ';'), "application/json")) return false;
  while (!content_type.empty()) {
    std::string_view value = cut_off(content_type, ';');
    const std::string_view name = cut_off(value, '=');
    if (value.size() >= 2 && value.starts_with('"') && value.ends_with('"'))
      value = value.substr(1, value.size() - 2);
    if (same(name, "charset") && !same(value, "utf-8")) return false;
  }
  return true;
}

}  // namespace

HttpResponse ReviewEndpoint::answer(const HttpCall& call) const {
  if (call.path != "/mutate" && call.path != "/validate")
    return refused(404, "not found; reviews go to /mutate and /validate");
  if (call.method != "POST") return refused(405, "send an AdmissionReview by POST");
  if (!is_json(call.content_type))
    return refused(415, "send an AdmissionReview as application/json, in UTF-8");
  const MonotonicTime began = parts_.now();
  const ReviewPath path = call.path == "/mutate" ? ReviewPath::kMutate : ReviewPath::kValidate;
  ReviewReply reply = review(path, call.body, parts_.cluster, parts_.settings);
  parts_.metrics.on_review(call.path.substr(1), reply.operation, to_string(reply.verdict),
                           parts_.now() - began);
  if (reply.refusal && parts_.log != nullptr) log_refusal(call, reply);
  HttpResponse response;
  response.status = reply.http_status;
  response.content_type = "application/json";
  response.body = std::move(reply.body);
  return response;
}

void ReviewEndpoint::log_refusal(const HttpCall& call, const ReviewReply& reply) const {
  const auto held = gate_.pass(parts_.now());
  if (!held) return;
  parts_.log->info("refused", {{"user", reply.refusal->user},
                               {"object", reply.refusal->object},
                               {"operation", reply.operation},
                               {"path", call.path},
                               {"field", reply.refusal->field},
                               {"rule", reply.refusal->rule},
                               {"refusals", reply.refusal->refusals},
                               {"not_logged", *held}});
}

}  // namespace berth
