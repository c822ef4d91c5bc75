// SPDX-License-Identifier: Apache-2.0
// The cached facts of one certificate are never returned for another.
#include "controller/certificates/certificate_facts.h"

#include <gtest/gtest.h>

#include <string>

namespace berth {
namespace {

using namespace std::chrono_literals;

const Time kFrom = parse_time("2026-11-22T08:00:00Z").value();

CertificatePair authority() { return make_authority("ca", {kFrom, kFrom + 24h}).value(); }

TEST(CertificateFacts, AreToldOfEachTextByItselfHoweverOftenTheyAreAskedFor) {
  const CertificatePair one = authority(), other = authority();
  const CertificatePair leaf = make_leaf(one, {"berth"}, {kFrom, kFrom + 1h}).value();
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(is_pair(one));
    EXPECT_FALSE(is_pair({one.certificate, other.key}));
    EXPECT_FALSE(is_pair({one.certificate, ""}));
    EXPECT_TRUE(is_issued_by(leaf.certificate, one.certificate));
    EXPECT_FALSE(is_issued_by(leaf.certificate, other.certificate));
    EXPECT_FALSE(is_issued_by(one.certificate, leaf.certificate));
    EXPECT_TRUE(read_certificate_facts(one.certificate)->authority);
    EXPECT_FALSE(read_certificate_facts(leaf.certificate)->authority);
    EXPECT_FALSE(read_certificate_facts("").has_value());
    EXPECT_EQ(split_certificates(one.certificate + leaf.certificate).size(), 2u);
    EXPECT_EQ(split_certificates(one.certificate).size(), 1u);
  }
}

TEST(CertificateFacts, AreStillToldWhenMoreHasBeenReadThanIsRemembered) {
  const CertificatePair one = authority();
  for (int i = 0; i < 200; ++i) {
    EXPECT_FALSE(is_pair({one.certificate, std::to_string(i)}));
    EXPECT_FALSE(read_certificate_facts(std::to_string(i)).has_value());
  }
  EXPECT_TRUE(is_pair(one));
  EXPECT_TRUE(read_certificate_facts(one.certificate).has_value());
}

}  // namespace
}  // namespace berth
