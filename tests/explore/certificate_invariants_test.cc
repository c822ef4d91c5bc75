// SPDX-License-Identifier: Apache-2.0
// Each invariant of certificates is violated once, by a manipulated write of berth.
#include "tests/explore/certificate_invariants.h"

#include "apis/base/base64.h"
#include "controller/scenario/simulated_keys.h"
#include "controller/scenario/webhook_objects.h"
#include "tests/explore/invariants_fixture.h"

namespace berth::explore {
namespace {

using testing::Not;

constexpr char kAuthority[] = "berth-webhook-ca";
constexpr char kLeaf[] = "berth-webhook-tls";
constexpr char kKind[] = "MutatingWebhookConfiguration";
constexpr char kPlural[] = "mutatingwebhookconfigurations";

class CertificateInvariantsTest : public InvariantsFixture {
 protected:
  // In the middle of a renewal: the previous authority signed the present leaf.
  void stand(ScenarioCertificates certificates = {.authority_age = 10h,
                                                  .leaf_age = 500h,
                                                  .previous_age = 5850h,
                                                  .leaf_of_previous = true}) {
    for (const std::string& text :
         webhook_objects(certificates, "berth-system", clock_.wall(), keys_)) {
      const json object = json::parse(text);
      const bool secret = object["kind"] == "Secret";
      const bool mutating = object["kind"] == kKind;
      put(secret     ? "secrets"
          : mutating ? kPlural
                     : "validatingwebhookconfigurations",
          secret ? "berth-system" : "", object, "before");
    }
    renew();
    EXPECT_EQ(first(), "");
  }
  CertificateSecret held(const char* name) {
    const auto object = store_.find({sim::find_resource_type("secrets"), "berth-system", name});
    return read_secret(object->dump()).value();
  }
  CertificatePair signed_by(const CertificatePair& authority) {
    const Time now = clock_.wall();
    return make_leaf(authority, service_names("berth-webhook", "berth-system"),
                     {now - kClockSkew, now + kLeafLife}, keys_)
        .value();
  }
  void write(const char* name, const StoredAuthority& content, const char* user = "berth-0") {
    CertificateSecret secret;
    secret.content = content;
    put("secrets", "berth-system", json::parse(write_secret({"berth-system", name}, secret)), user);
  }
  void publish(const std::string& bundle, const char* user = "berth-0") {
    put(kPlural, "",
        {{"metadata", {{"name", "berth-webhook"}}},
         {"webhooks", json::parse(webhooks_saying(kKind, encode_base64(bundle)))}},
        user);
  }

  // Among other complaints after hours without a status.
  static testing::Matcher<std::vector<std::string>> distrust() {
    return testing::Contains(StartsWith("Trust: "));
  }

  SimulatedKeys keys_{sim::Random(7)};
};

TEST_F(CertificateInvariantsTest, WhatStandsIsInOrder) {
  stand();
  EXPECT_EQ(judge_.certificates().unstill(clock_.wall()), "");
}

TEST_F(CertificateInvariantsTest, TheAuthorityBeforeIsForgottenWhileItsCertificateIsShown) {
  stand();
  publish(held(kAuthority).content.pair.certificate);
  EXPECT_THAT(first(), StartsWith("Overlap: a caBundle loses an authority whose certificate is"));
}

TEST_F(CertificateInvariantsTest, ANewAuthoritySignsTooEarly) {
  stand();
  write(kLeaf, {.pair = signed_by(held(kAuthority).content.pair)});
  EXPECT_THAT(first(), StartsWith("Overlap: berth-webhook-tls is signed by an authority that"));
}

TEST_F(CertificateInvariantsTest, ACertificateThatNobodyBelieves) {
  stand({.authority_age = 500h});
  const Time now = clock_.wall();
  const auto other = make_authority("other", {now, now + kAuthorityLife}, keys_).value();
  write(kAuthority, {.pair = other});
  write(kLeaf, {.pair = signed_by(other)});
  ASSERT_EQ(judge_.broken().size(), 2u);
  EXPECT_THAT(judge_.broken().back(), StartsWith("Trust: the MutatingWebhookConfiguration does"));
}

TEST_F(CertificateInvariantsTest, WhatIsShownExpires) {
  stand({.authority_age = 500h});
  pass(kLeafLife - 500h - 1s);
  EXPECT_THAT(judge_.broken(), Not(distrust()));
  pass(2s);
  EXPECT_THAT(judge_.broken(), distrust());
}

TEST_F(CertificateInvariantsTest, AnotherCertificatesKey) {
  stand({.authority_age = 500h});
  const CertificatePair authority = held(kAuthority).content.pair;
  write(kLeaf, {.pair = {signed_by(authority).certificate, signed_by(authority).key}});
  EXPECT_THAT(first(), StartsWith("Pair: the key in berth-webhook-tls"));
}

TEST_F(CertificateInvariantsTest, TheAuthoritysKeyIsWhereItDoesNotBelong) {
  stand({.authority_age = 500h});
  const CertificatePair authority = held(kAuthority).content.pair;
  write(kLeaf, {.pair = signed_by(authority), .previous = authority.key});
  EXPECT_THAT(first(), StartsWith("Key: the authority's key is in Secret/"));
}

TEST_F(CertificateInvariantsTest, WhatCameMeanwhileIsWrittenOver) {
  stand({.authority_age = 500h});
  const CertificatePair authority = held(kAuthority).content.pair;
  send("PATCH",
       "/api/v1/namespaces/berth-system/secrets/berth-webhook-tls"
       "?fieldManager=berth-webhook-certificates");
  pass(1s);
  write(kLeaf, {.pair = signed_by(authority)}, "berth-1");
  write(kLeaf, {.pair = signed_by(authority)});
  EXPECT_THAT(first(), StartsWith("Unseen: the Secret berth-webhook-tls is written over"));
}

// An invariant complains about a user's change only once berth has had time to repair it.
TEST_F(CertificateInvariantsTest, WhatAPersonBreaksIsToBeMendedSoon) {
  stand({.authority_age = 500h});
  publish("", "somebody");
  pass(5min);
  EXPECT_THAT(judge_.broken(), Not(distrust()));
  EXPECT_EQ(judge_.certificates().unstill(clock_.wall()), "not every caBundle says the same");
  pass(2min);
  EXPECT_THAT(judge_.broken(), distrust());
}

}  // namespace
}  // namespace berth::explore
