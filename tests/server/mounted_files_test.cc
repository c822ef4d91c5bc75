// SPDX-License-Identifier: Apache-2.0
#include "controller/server/mounted_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "controller/certificates/certificate_facts.h"
#include "controller/certificates/certificate_maker.h"
#include "tests/client/fake_host.h"
#include "tests/io/recording_log.h"

namespace berth {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class MountedFilesTest : public ::testing::Test {
 protected:
  CertificatePair leaf_until(Time until) {
    return make_leaf(authority_, {"a.b.svc"}, {kNow, until}).value();
  }
  void write(const std::string& chain, const std::string& key) {
    host_.files["/certs/tls.crt"] = chain;
    host_.files["/certs/tls.key"] = key;
  }

  const Time kNow = parse_time("2026-11-22T08:00:00Z").value();
  const CertificatePair authority_ = make_authority("ca", {kNow, kNow + 1000h}).value();
  FakeHost host_;
  RecordingLog log_;
  ServingCertificate certificate_;
  MountedFiles files_ = certificate_files(host_, log_, certificate_, "/certs");
};

TEST_F(MountedFilesTest, ServesWhatTheFilesComeToHold) {
  EXPECT_FALSE(files_.refresh());
  EXPECT_FALSE(files_.refresh());
  EXPECT_THAT(log_.lines, ElementsAre(HasSubstr("/certs/tls.crt: No such file")));
  const CertificatePair one = leaf_until(kNow + 1h), two = leaf_until(kNow + 2h);
  write(one.certificate, one.key);
  EXPECT_TRUE(files_.refresh());
  EXPECT_EQ(certificate_.not_after(), kNow + 1h);
  EXPECT_TRUE(files_.refresh());
  EXPECT_EQ(log_.lines.size(), 2u);
  write(two.certificate, two.key);
  EXPECT_TRUE(files_.refresh());
  EXPECT_EQ(certificate_.not_after(), kNow + 2h);
}

TEST_F(MountedFilesTest, ReadInTheMiddleOfAnExchangeTheyLeaveInForceWhatWas) {
  const CertificatePair one = leaf_until(kNow + 1h), two = leaf_until(kNow + 2h);
  write(one.certificate, one.key);
  ASSERT_TRUE(files_.refresh());
  write(two.certificate, one.key);
  EXPECT_FALSE(files_.refresh());
  EXPECT_EQ(certificate_.not_after(), kNow + 1h);
  EXPECT_THAT(log_.lines.back(), HasSubstr("is not the key of the first certificate"));
  host_.files.erase("/certs/tls.key");
  EXPECT_FALSE(files_.refresh());
  EXPECT_EQ(certificate_.not_after(), kNow + 1h);
  write(two.certificate, two.key);
  EXPECT_TRUE(files_.refresh());
  EXPECT_EQ(certificate_.not_after(), kNow + 2h);
}

TEST_F(MountedFilesTest, TellWhatIsWrongOnceEachTimeItGoesWrong) {
  const CertificatePair one = leaf_until(kNow + 1h);
  write(one.certificate, one.key);
  ASSERT_TRUE(files_.refresh());
  for (int times = 1; times <= 2; ++times) {
    host_.files.erase("/certs/tls.key");
    EXPECT_FALSE(files_.refresh());
    EXPECT_FALSE(files_.refresh());
    EXPECT_EQ(std::ranges::count(log_.lines,
                                 "warn no new certificate error=/certs/tls.key: No such file or "
                                 "directory"),
              times);
    write(one.certificate, one.key);
    EXPECT_TRUE(files_.refresh());
  }
}

}  // namespace
}  // namespace berth
