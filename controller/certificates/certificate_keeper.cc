// SPDX-License-Identifier: Apache-2.0
// Outline: run(), problem(), check(), what it reads, what it writes.
#include "controller/certificates/certificate_keeper.h"

#include <algorithm>
#include <array>
#include <utility>

#include "controller/certificates/certificate_facts.h"

namespace berth {
namespace {

constexpr char kManager[] = "berth-webhook-certificates";
constexpr std::array<KindInfo, 2> kConfigurations = {kMutatingConfiguration,
                                                     kValidatingConfiguration};
constexpr int kMostSteps = 8;  // a new cluster needs five steps

Validity validity(Time now, Duration life) { return {now - kClockSkew, now + life}; }

}  // namespace

std::vector<std::string> service_names(const std::string& service, const std::string& namespace_) {
  const std::string host = service + "." + namespace_ + ".svc";
  return {host, host + ".cluster.local"};
}

CertificateKeeper::CertificateKeeper(ApiClient& client, Log& log, CertificateKeeperOptions options,
                                     KeySource& keys)
    : client_(client),
      log_(log),
      loop_(client.loop()),
      options_(std::move(options)),
      authority_key_{options_.namespace_, options_.authority_secret},
      leaf_key_{options_.namespace_, options_.leaf_secret},
      keys_(keys) {}

Task<void> CertificateKeeper::run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    const bool settled = co_await check(stop);
    const auto wait = settled ? options_.period : std::min(options_.retry, options_.period);
    co_await sleep_for(wait, stop);
  }
}

std::optional<std::string> CertificateKeeper::problem() const {
  if (!complaint_.empty()) return complaint_;
  return facts_.last_success ? std::nullopt : std::optional<std::string>("not looked at yet");
}

// Takes one step, reads again, takes the next. If another replica took the step first, the write
// conflicts and the next read shows that step.
Task<bool> CertificateKeeper::check(std::stop_token stop) {
  for (int steps = 0; steps < kMostSteps && !stop.stop_requested(); ++steps) {
    Result<Seen> seen = co_await fetch(stop);
    if (!seen.has_value()) {
      complain(seen.error());
      co_return false;
    }
    note_ends(seen->state);
    CertificateDecision decision = decide_certificates(seen->state, client_.wall_now());
    if (decision.step == CertificateStep::kNone) {
      complaint_.clear();
      facts_.last_success = client_.wall_now();
      bool all_found = true;
      for (const auto& configuration : seen->configurations) all_found &= configuration.has_value();
      co_return all_found;  // a missing one will be installed soon, or was deleted
    }
    const std::string step = to_string(decision.step), why = decision.why;
    Result<void> taken = co_await take(std::move(decision), std::move(seen).value(), stop);
    if (taken.has_value()) {
      log_.info("webhook certificates", {{"step", step}, {"why", why}});
    } else if (taken.error().kind != ErrorKind::kConflict &&
               taken.error().kind != ErrorKind::kAlreadyExists) {
      complain(taken.error());
      co_return false;
    }
  }
  co_return false;
}

Task<Result<CertificateKeeper::Seen>> CertificateKeeper::fetch(std::stop_token stop) {
  Seen seen;
  CertificateState& state = seen.state;
  state.dns_names = service_names(options_.service, options_.namespace_);
  for (const bool of_authority : {true, false}) {
    const ObjectKey& key = of_authority ? authority_key_ : leaf_key_;
    auto text = co_await fetch_json(kSecret, key, stop);
    if (!text.has_value()) co_return std::move(text).error();
    if (!text->has_value()) continue;
    Result<CertificateSecret> secret = read_secret(**text);
    if (!secret.has_value()) co_return std::move(secret).error();
    if (of_authority)
      state.authority = secret->content;
    else
      state.leaf = secret->content.pair;
    (of_authority ? seen.authority : seen.leaf) = std::move(secret).value();
  }
  for (const KindInfo& kind : kConfigurations) {
    ObjectKey key{"", options_.configuration};
    auto text = co_await fetch_json(kind, std::move(key), stop);
    if (!text.has_value()) co_return std::move(text).error();
    seen.configurations.emplace_back();
    state.configurations.emplace_back();
    if (!text->has_value()) continue;
    Result<WebhookConfiguration> read = read_configuration(**text);
    if (!read.has_value()) co_return std::move(read).error();
    state.configurations.back() = {.found = true, .bundles = read->bundles};
    seen.configurations.back() = std::move(read).value();
  }
  co_return seen;
}

Task<Result<void>> CertificateKeeper::take(CertificateDecision decision, Seen seen,
                                           std::stop_token stop) {
  const Time now = client_.wall_now();
  switch (decision.step) {
    case CertificateStep::kNone:
      co_return Result<void>();
    case CertificateStep::kPublish:
      co_return co_await send_bundle(std::move(decision.bundle), std::move(seen), stop);
    case CertificateStep::kMakeAuthority: {
      Result<CertificatePair> made =
          make_authority(options_.authority_secret, validity(now, kAuthorityLife), keys_);
      if (!made.has_value()) co_return std::move(made).error();
      seen.authority.content = {.pair = std::move(made).value(), .previous = decision.previous};
      co_return co_await send_secret(authority_key_, std::move(seen.authority), stop);
    }
    case CertificateStep::kNoteTrusted:
      seen.authority.content.trusted_since = now;
      co_return co_await send_secret(authority_key_, std::move(seen.authority), stop);
    case CertificateStep::kDropPrevious:
      seen.authority.content.previous.clear();
      co_return co_await send_secret(authority_key_, std::move(seen.authority), stop);
    case CertificateStep::kMakeLeaf: {
      Result<CertificatePair> made = make_leaf(seen.authority.content.pair, seen.state.dns_names,
                                               validity(now, kLeafLife), keys_);
      if (!made.has_value()) co_return std::move(made).error();
      seen.leaf.content = {.pair = std::move(made).value()};
      co_return co_await send_secret(leaf_key_, std::move(seen.leaf), stop);
    }
  }
  co_return Result<void>();
}

Task<Result<void>> CertificateKeeper::send_secret(ObjectKey key, CertificateSecret secret,
                                                  std::stop_token stop) {
  const WriteOptions write{.field_manager = kManager};
  std::string body = write_secret(key, secret);
  ApiRequest request = secret.resource_version.empty()
                           ? create_request(kSecret, key.namespace_, std::move(body), write)
                           : merge_patch_request(kSecret, key, std::move(body), write);
  Result<Reply> reply = co_await client_.send(std::move(request), CallOptions(stop));
  if (!reply.has_value()) co_return std::move(reply).error();
  co_return Result<void>();
}

// With force, because all webhook calls fail while the caBundle that a user wrote is in place.
Task<Result<void>> CertificateKeeper::send_bundle(std::string bundle, Seen seen,
                                                  std::stop_token stop) {
  const WriteOptions write{.field_manager = kManager};
  for (std::size_t i = 0; i < kConfigurations.size(); ++i) {
    if (!seen.configurations[i]) continue;
    ObjectKey key{"", options_.configuration};
    std::string body = write_bundle(kConfigurations[i], key.name, *seen.configurations[i], bundle);
    ApiRequest request = apply_request(kConfigurations[i], key, std::move(body), true, write);
    Result<Reply> reply = co_await client_.send(std::move(request), CallOptions(stop));
    if (!reply.has_value()) co_return std::move(reply).error();
  }
  co_return Result<void>();
}

// nullopt if there is no such object.
Task<Result<std::optional<std::string>>> CertificateKeeper::fetch_json(KindInfo kind, ObjectKey key,
                                                                       std::stop_token stop) {
  ApiRequest request = get_request(object_path(kind, key));
  Result<Reply> reply = co_await client_.send(std::move(request), CallOptions(stop));
  std::optional<std::string> text;
  if (reply.has_value())
    text = std::move(reply->body);
  else if (reply.error().kind != ErrorKind::kNotFound)
    co_return std::move(reply).error();
  co_return text;
}

void CertificateKeeper::note_ends(const CertificateState& state) {
  const auto end_of = [](const std::string& pem) -> std::optional<Time> {
    const auto facts = read_certificate_facts(pem);
    return facts ? std::optional(facts->validity.until) : std::nullopt;
  };
  if (state.authority) facts_.authority_end = end_of(state.authority->pair.certificate);
  if (state.leaf) facts_.leaf_end = end_of(state.leaf->certificate);
}

void CertificateKeeper::complain(const Error& error) {
  std::string text = describe(error);
  if (error.kind != ErrorKind::kCancelled) ++facts_.failures_total;
  if (text != complaint_ && error.kind != ErrorKind::kCancelled)
    log_.warn("webhook certificates can't be kept", {{"error", text}});
  complaint_ = std::move(text);
}

}  // namespace berth
