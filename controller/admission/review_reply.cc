// SPDX-License-Identifier: Apache-2.0
#include "controller/admission/review_reply.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <initializer_list>

#include "apis/base/base64.h"
#include "controller/core/json_patch.h"

namespace berth {
namespace {

constexpr std::size_t kMaxMessage = 4096;
constexpr std::size_t kMaxLogged = 512;

// Each part of `rest` is empty or begins with a comma. Appended, not formatted: a patch is large.
ReviewReply reply(std::string_view uid, ReviewVerdict verdict,
                  std::initializer_list<std::string_view> rest) {
  constexpr std::size_t kEnvelopeBytes = 256;
  std::size_t bytes = kEnvelopeBytes;
  for (const std::string_view part : rest) bytes += part.size();
  ReviewReply reply{.verdict = verdict};
  reply.body.reserve(bytes);
  reply.body +=
      R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":)";
  append_quoted(reply.body, uid);
  const bool allowed = verdict != ReviewVerdict::kDenied;
  reply.body += allowed ? R"(,"allowed":true)" : R"(,"allowed":false)";
  for (const std::string_view part : rest) reply.body += part;
  reply.body += "}}";
  return reply;
}

std::string write_warnings(const std::vector<std::string>& warnings) {
  if (warnings.empty()) return {};
  std::vector<std::string> quoted;
  for (const std::string& warning : warnings) quoted.push_back(quote_json(warning));
  return fmt::format(R"(,"warnings":[{}])", fmt::join(quoted, ","));
}

std::string write_status(int code, std::string_view reason, std::string_view message,
                         std::string_view details) {
  return fmt::format(R"(,"status":{{"status":"Failure","message":{},"reason":"{}",{}"code":{}}})",
                     quote_json(shorten(message, kMaxMessage)), reason, details, code);
}

std::string write_causes(Denial denial, const std::vector<ReviewFinding>& findings) {
  const char* reason = denial == Denial::kForbidden ? "FieldValueForbidden" : "FieldValueInvalid";
  std::vector<std::string> causes;
  for (const ReviewFinding& finding : findings)
    causes.push_back(fmt::format(R"({{"reason":"{}","message":{},"field":{}}})", reason,
                                 quote_json(finding.message), quote_json(finding.field)));
  return fmt::format(R"("details":{{"causes":[{}]}},)", fmt::join(causes, ","));
}

}  // namespace

ReviewReply reply_bad_request(std::string_view message) {
  return {.verdict = ReviewVerdict::kRefused,
          .http_status = 400,
          .body = fmt::format(R"({{"kind":"Status","apiVersion":"v1","status":"Failure",)"
                              R"("message":{},"reason":"BadRequest","code":400}})",
                              quote_json(shorten(message, kMaxMessage)))};
}

ReviewReply reply_allowed(std::string_view uid, const PodPatch& patch,
                          const std::vector<std::string>& warnings) {
  const std::string told = write_warnings(warnings);
  if (patch.empty()) return reply(uid, ReviewVerdict::kAllowed, {told});
  return reply(uid, ReviewVerdict::kPatched,
               {R"(,"patchType":"JSONPatch","patch":")", encode_base64(patch.str()), "\"", told});
}

ReviewReply reply_denied(std::string_view uid, Denial denial, const ReviewFindings& findings) {
  const bool forbidden = denial == Denial::kForbidden;
  ReviewReply denied =
      reply(uid, ReviewVerdict::kDenied,
            {write_status(forbidden ? 403 : 422, forbidden ? "Forbidden" : "Invalid",
                          findings.denial(), write_causes(denial, findings.refusals())),
             write_warnings(findings.warnings())});
  const ReviewFinding& first = findings.refusals().front();
  denied.refusal = ReviewRefusal{.user = {},
                                 .object = {},
                                 .field = first.field,
                                 .rule = shorten(first.message, kMaxLogged),
                                 .refusals = findings.refusals().size()};
  return denied;
}

ReviewReply reply_unreadable(std::string_view uid, std::string_view message) {
  ReviewReply denied =
      reply(uid, ReviewVerdict::kDenied, {write_status(400, "BadRequest", message, {})});
  denied.refusal =
      ReviewRefusal{.user = {}, .object = {}, .field = {}, .rule = shorten(message, kMaxLogged)};
  return denied;
}

}  // namespace berth
