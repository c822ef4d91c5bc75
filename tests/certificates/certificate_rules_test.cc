// SPDX-License-Identifier: Apache-2.0
// The next step of the certificate manager: each rule by itself, then more than a year of steps.
#include "controller/certificates/certificate_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <random>

#include "controller/certificates/certificate_facts.h"
#include "controller/certificates/certificate_objects.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

const std::vector<std::string> kNames = {"berth-webhook.berth-system.svc"};
const Time kStart = parse_time("2026-11-22T08:00:00Z").value();
constexpr Duration kDay = 24h;

CertificatePair authority_at(Time now) {
  return make_authority("berth-webhook-ca", {now - kClockSkew, now + kAuthorityLife}).value();
}
CertificatePair leaf_at(Time now, const CertificatePair& of,
                        const std::vector<std::string>& names = kNames) {
  return make_leaf(of, names, {now - kClockSkew, now + kLeafLife}).value();
}

// The state that a check sees; its steps change it.
struct Held {
  CertificateState state;
  std::vector<std::string> steps;

  Held() {
    state.dns_names = kNames;
    state.configurations = {{true, {""}}, {true, {"", ""}}};
  }
  // Takes all steps that are due now.
  void check(Time now) {
    for (int i = 0; i < 10; ++i) {
      const CertificateDecision decision = decide_certificates(state, now);
      if (decision.step == CertificateStep::kNone) return;
      steps.push_back(std::string(to_string(decision.step)) + ": " + decision.why);
      take(decision, now);
    }
    FAIL() << "no end: " << steps.back();
  }
  void take(const CertificateDecision& decision, Time now) {
    switch (decision.step) {
      case CertificateStep::kNone:
        return;
      case CertificateStep::kMakeAuthority:
        state.authority = StoredAuthority{authority_at(now), decision.previous, std::nullopt};
        return;
      case CertificateStep::kPublish:
        for (TrustingConfiguration& one : state.configurations)
          for (std::string& bundle : one.bundles) bundle = decision.bundle;
        return;
      case CertificateStep::kNoteTrusted:
        state.authority->trusted_since = now;
        return;
      case CertificateStep::kMakeLeaf:
        state.leaf = leaf_at(now, state.authority->pair, state.dns_names);
        return;
      case CertificateStep::kDropPrevious:
        state.authority->previous.clear();
        return;
    }
  }
  bool believed_by_all(const CertificatePair& leaf) const {
    for (const TrustingConfiguration& one : state.configurations)
      for (const std::string& bundle : one.bundles) {
        bool believed = false;
        for (const std::string& authority : split_certificates(bundle))
          believed |= is_issued_by(leaf.certificate, authority);
        if (!believed) return false;
      }
    return true;
  }
};

Held settled() {
  Held held;
  held.check(kStart);
  held.steps.clear();
  return held;
}

TEST(CertificateRules, EachDeparture) {
  struct Case {
    const char* what;
    std::function<void(Held&)> change;
    Duration later;
    std::vector<std::string> steps;
  };
  const CertificatePair foreign = authority_at(kStart);
  const std::string publish = "publish the bundle: a configuration has something else";
  const std::string known = "note that the authority is known: every configuration has it";
  const Case cases[] = {
      {"nothing happens while nothing is due", [](Held&) {}, 59 * kDay, {}},
      {"a leaf is renewed when two thirds of its life are over",
       [](Held&) {},
       60 * kDay,
       {"make a certificate: two thirds of the certificate's life are over"}},
      {"a caBundle that somebody wiped comes back",
       [](Held& held) { held.state.configurations[1].bundles[0].clear(); },
       0h,
       {publish}},
      {"a caBundle that somebody widened is narrowed",
       [&](Held& held) { held.state.configurations[0].bundles[0] += foreign.certificate; },
       0h,
       {publish}},
      {"a deleted leaf is made at once",
       [](Held& held) { held.state.leaf.reset(); },
       0h,
       {"make a certificate: there is no certificate"}},
      {"a leaf with another's key is replaced",
       [&](Held& held) { held.state.leaf->key = foreign.key; },
       0h,
       {"make a certificate: the certificate can't be read"}},
      {"a leaf of the Service's former name is replaced",
       [](Held& held) { held.state.dns_names = {"other.berth-system.svc"}; },
       0h,
       {"make a certificate: the certificate has other names than the service"}},
      {"a leaf of a stranger's authority is replaced",
       [&](Held& held) { held.state.leaf = leaf_at(kStart, foreign); },
       0h,
       {"make a certificate: nobody trusts the certificate's authority"}},
      {"after all was neglected for years, everything is made anew",
       [](Held&) {},
       1000 * kDay,
       {"make an authority: the authority has expired", publish,
        "make a certificate: the certificate has expired", known}},
      {"a leaf that a clock ahead of time has dated is replaced",
       [](Held& held) { held.state.leaf = leaf_at(kStart + 2 * kDay, held.state.authority->pair); },
       0h,
       {"make a certificate: the certificate is not valid yet"}},
      {"so is such an authority",
       [](Held& held) { held.state.authority->pair = authority_at(kStart + 2 * kDay); },
       0h,
       {"make an authority: the authority is not valid yet", publish,
        "make a certificate: nobody trusts the certificate's authority", known}},
      {"a lost authority is followed by another, and its leaf goes on being believed",
       [](Held& held) { held.state.authority.reset(); },
       0h,
       {"make an authority: there is no authority", publish, known}},
      {"so is one that somebody spoilt",
       [](Held& held) { held.state.authority->pair.key = "no key"; },
       0h,
       {"make an authority: the authority can't be read", publish, known}},
      {"with both Secrets lost, what processes still serve goes on being believed",
       [](Held& held) {
         held.state.authority.reset();
         held.state.leaf.reset();
       },
       0h,
       {"make an authority: there is no authority", publish,
        "make a certificate: there is no certificate", known}},
  };
  for (const Case& one : cases) {
    SCOPED_TRACE(one.what);
    Held held = settled();
    const std::string leaf_before = held.state.leaf->certificate;
    one.change(held);
    held.check(kStart + one.later);
    EXPECT_EQ(held.steps, one.steps);
    EXPECT_TRUE(held.believed_by_all(*held.state.leaf));
    const bool kept = std::string(one.what).find("believed") != std::string::npos;
    EXPECT_TRUE(!kept || held.believed_by_all({leaf_before, ""}));
  }
}

TEST(CertificateRules, AnInstallation) {
  Held held;
  held.check(kStart);
  EXPECT_EQ(held.steps, (std::vector<std::string>{
                            "make an authority: there is no authority",
                            "publish the bundle: a configuration has something else",
                            "make a certificate: there is no certificate",
                            "note that the authority is known: every configuration has it",
                        }));
  EXPECT_TRUE(held.believed_by_all(*held.state.leaf));
}

TEST(CertificateRules, WithoutConfigurationsALeafIsMadeAndTheAuthorityIsNotYetKnown) {
  Held held;
  held.state.configurations = {{}, {true, {""}}};
  held.check(kStart);
  EXPECT_TRUE(held.state.leaf.has_value());
  EXPECT_FALSE(held.state.authority->trusted_since.has_value());
  held.state.configurations[0] = {true, {""}};
  held.check(kStart + 1h);
  EXPECT_EQ(held.state.authority->trusted_since, kStart + 1h);
}

TEST(CertificateRules, AnAuthoritySignsOnceItHasBeenKnownForADayAndTheOneBeforeStaysADayLonger) {
  Held held = settled();
  const Time due = kStart - kClockSkew + (kAuthorityLife + kClockSkew) * 2 / 3 + 1min;
  held.state.leaf = leaf_at(due - kDay, held.state.authority->pair);
  const std::string first = held.state.authority->pair.certificate;
  const std::string leaf = held.state.leaf->certificate;
  const auto bundle = [&] { return split_certificates(held.state.configurations[0].bundles[0]); };
  held.check(due);
  EXPECT_EQ(bundle().size(), 2u);
  EXPECT_EQ(bundle()[1], first);
  held.check(due + kDay - 1s);
  EXPECT_EQ(held.state.leaf->certificate, leaf);
  held.check(due + kDay);
  EXPECT_NE(held.state.leaf->certificate, leaf);
  EXPECT_EQ(bundle().size(), 2u);
  held.check(due + 2 * kDay - 1s);
  EXPECT_EQ(bundle().size(), 2u);
  held.check(due + 2 * kDay);
  EXPECT_EQ(bundle().size(), 1u);
  EXPECT_EQ(held.steps.back(), "publish the bundle: a configuration has something else");
}

// Processes may serve a leaf until half a day after its replacement. At all times, clients of a
// configuration trust every served leaf, whatever users delete; and a served leaf never comes
// within three weeks of its end.
TEST(CertificateRules, AnAuthorityThatCannotBeReadIsStillBelievedBesideThoseBeforeIt) {
  Held held = settled();
  const std::string signer = held.state.authority->pair.certificate;
  const std::string before = authority_at(kStart - kDay).certificate;
  held.state.authority->previous = before;
  held.check(kStart);
  held.state.authority->pair.certificate = "oops\n";
  const CertificateDecision decision = decide_certificates(held.state, kStart + 1h);
  EXPECT_EQ(decision.step, CertificateStep::kMakeAuthority);
  EXPECT_THAT(split_certificates(decision.previous),
              ::testing::UnorderedElementsAre(signer, before));
}

TEST(CertificateRules, AYearAndMoreWithPeopleInIt) {
  std::mt19937 random(7);
  Held held = settled();
  std::map<std::string, Time> served;  // each leaf, and when it was last current
  Time eventful = kStart;              // checked closely from here on
  for (Time now = kStart; now < kStart + 450 * kDay;
       now += now < eventful + 4 * kDay ? Duration(12h) : 2 * kDay) {
    served[held.state.leaf->certificate] = now;
    switch (random() % 40) {
      case 0:
        held.state.authority.reset();
        break;
      case 1:
        held.state.leaf.reset();
        break;
      case 2:
        for (TrustingConfiguration& one : held.state.configurations) one.bundles.back().clear();
        break;
      default:
        break;
    }
    const std::size_t steps = held.steps.size();
    held.check(now);
    if (held.steps.size() > steps) {
      eventful = now;
      for (const auto& [leaf, until] : served)
        if (now - until <= 12h) {
          EXPECT_TRUE(held.believed_by_all({leaf, ""})) << format_time(now);
        }
    }
    const auto facts = read_certificate_facts(held.state.leaf->certificate);
    EXPECT_GT(facts->validity.until - now, 21 * kDay) << format_time(now);
  }
  const auto taken = [&](const char* step) {
    return std::count_if(held.steps.begin(), held.steps.end(),
                         [&](const std::string& one) { return one.starts_with(step); });
  };
  EXPECT_GT(taken("make an authority"), 4);
  EXPECT_GT(taken("make a certificate"), 8);
  EXPECT_GT(taken("remove the previous"), 2);
}

TEST(CertificateObjects, ASecretIsReadAsItWasWrittenAndAMergeTakesAwayWhatIsNoMore) {
  CertificateSecret secret;
  secret.content = {authority_at(kStart), "previous\n", kStart};
  const std::string json = write_secret({"ns", "ca"}, secret);
  const CertificateSecret read = read_secret(json).value();
  EXPECT_EQ(read.content.pair.certificate, secret.content.pair.certificate);
  EXPECT_EQ(read.content.pair.key, secret.content.pair.key);
  EXPECT_EQ(read.content.previous, "previous\n");
  EXPECT_EQ(read.content.trusted_since, kStart);
  EXPECT_THAT(json, HasSubstr(R"("type":"kubernetes.io/tls")"));
  const CertificateSecret later{.resource_version = "7", .content = {.pair = {"a", "b"}}};
  EXPECT_THAT(write_secret({"ns", "ca"}, later), HasSubstr(R"("previous.crt":null)"));
  EXPECT_THAT(write_secret({"ns", "ca"}, later), HasSubstr(R"("resourceVersion":"7")"));
  EXPECT_THAT(write_secret({"ns", "ca"}, later), HasSubstr(R"(trusted-since":null)"));
  // A Secret's type is immutable: a Secret that a user created is adopted as it is.
  EXPECT_THAT(write_secret({"ns", "ca"}, later), Not(HasSubstr(R"("type")")));
}

TEST(CertificateObjects, PemWhoseLastLineIsOpenCanBePutBeforeOther) {
  CertificateSecret secret;
  secret.content.pair = authority_at(kStart);
  secret.content.pair.certificate.pop_back();
  const CertificateSecret read = read_secret(write_secret({"ns", "ca"}, secret)).value();
  const std::string other = authority_at(kStart).certificate;
  EXPECT_EQ(split_certificates(read.content.pair.certificate + other).size(), 2u);
}

TEST(CertificateObjects, WhatPeopleWroteIsReadAsNothing) {
  for (const char* json :
       {R"({"metadata": 3, "data": []})", R"({"data": {"tls.crt": 1, "tls.key": "§"}})",
        R"({"metadata": {"annotations": {"gpu.berth.dev/trusted-since": "soon"}}})"}) {
    const Result<CertificateSecret> read = read_secret(json);
    ASSERT_TRUE(read.has_value()) << json;
    EXPECT_EQ(read->content.pair.certificate + read->content.pair.key, "") << json;
    EXPECT_FALSE(read->content.trusted_since) << json;
  }
  EXPECT_FALSE(read_secret("[]").has_value());
  const auto configuration = read_configuration(
      R"({"webhooks": [{"name": "a"}, {"name": "b", "clientConfig": {"caBundle": "eA=="}}]})");
  ASSERT_TRUE(configuration.has_value());
  EXPECT_EQ(configuration->bundles, (std::vector<std::string>{"", "x"}));
  EXPECT_EQ(
      write_bundle(kMutatingConfiguration, "w", {"7", {"a"}, {""}}, "x"),
      R"({"apiVersion":"admissionregistration.k8s.io/v1",)"
      R"("kind":"MutatingWebhookConfiguration","metadata":{"name":"w","resourceVersion":"7"},)"
      R"("webhooks":[{"clientConfig":{"caBundle":"eA=="},"name":"a"}]})");
}

}  // namespace
}  // namespace berth
