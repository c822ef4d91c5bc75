// SPDX-License-Identifier: Apache-2.0
// Flags of `berth controller`, `webhook` and `certificates` for users: printed defaults, and errors
// that name the flag.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cmd/program.h"

namespace berth::test {
namespace {

using testing::HasSubstr;

TEST(ControllerFlags, TheConfigurationIsPrintedWithItsDefaults) {
  const Ran ran = run_berth({"controller", "--print-config", "--kube-api-burst=7"});
  EXPECT_EQ(ran.exit_code, 0);
  EXPECT_THAT(ran.out, HasSubstr("--kube-api-qps=300\n--kube-api-burst=7\n"
                                 "--kube-api-status-qps=50\n--kube-api-status-burst=100\n"));
  const Ran off = run_berth({"controller", "--print-config", "--kube-api-qps", "-1"});
  EXPECT_THAT(off.out, HasSubstr("--kube-api-qps=-1\n--kube-api-burst=500\n"));
}

TEST(ControllerFlags, RatesThatCannotWorkAreRefusedByName) {
  for (const char* wrong : {"--kube-api-qps=0", "--kube-api-qps=-2", "--kube-api-qps=nan",
                            "--kube-api-qps=fast", "--kube-api-burst=0", "--kube-api-burst=1.5",
                            "--kube-api-status-qps=0", "--kube-api-status-burst=0"}) {
    const Ran ran = run_berth({"controller", wrong});
    const std::string flag(wrong, std::string_view(wrong).find('='));
    EXPECT_EQ(ran.exit_code, 1) << wrong;
    EXPECT_THAT(ran.err, HasSubstr(flag)) << wrong;
  }
}

TEST(ControllerFlags, ThePageIsServedByTLSOrPlainlyByChoice) {
  EXPECT_THAT(run_berth({"controller", "--print-config"}).out,
              HasSubstr("--page-bind-address=0\n--page-cert-dir=\n--page-plain-http=false\n"));
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{}, {"--page-cert-dir=/certs", "--page-plain-http"}}) {
    std::vector<std::string> words{"controller", "--page-bind-address=:8443"};
    words.insert(words.end(), more.begin(), more.end());
    const Ran ran = run_berth(words);
    EXPECT_EQ(ran.exit_code, 1);
    EXPECT_THAT(ran.err, HasSubstr("--page-bind-address: needs either"));
  }
  const Ran wrong = run_berth({"controller", "--page-bind-address=nowhere", "--page-plain-http"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, HasSubstr("--page-bind-address"));
}

TEST(ProbeFlags, MetricsThatNeedATokenHaveAPortOfTheirOwn) {
  for (const char* program : {"controller", "webhook", "certificates"}) {
    EXPECT_THAT(run_berth({program, "--print-config"}).out,
                HasSubstr("--metrics-bind-address=:8080\n--metrics-authorization=false\n"))
        << program;
    const Ran ran = run_berth({program, "--metrics-authorization", "--metrics-bind-address=:8081"});
    EXPECT_EQ(ran.exit_code, 1) << program;
    EXPECT_THAT(ran.err, HasSubstr("--metrics-authorization: needs")) << program;
    const Ran unused = run_berth({program, "--metrics-cert-dir=/certs"});
    EXPECT_EQ(unused.exit_code, 1) << program;
    EXPECT_THAT(unused.err, HasSubstr("--metrics-cert-dir: needs")) << program;
  }
}

TEST(WebhookFlags, ACallersNameNeedsTheAuthorityThatVouchesForIt) {
  const Ran ran = run_berth({"webhook", "--client-cert-name=apiserver"});
  EXPECT_EQ(ran.exit_code, 1);
  EXPECT_THAT(ran.err, HasSubstr("--client-cert-name: needs --client-ca-file"));
}

TEST(CertificatesFlags, TheKeeperIsToldOfTwoSecretsOrRefused) {
  const Ran shown = run_berth({"certificates", "--print-config"});
  EXPECT_EQ(shown.exit_code, 0);
  EXPECT_THAT(shown.out, HasSubstr("--webhook-certificates=berth-webhook-tls\n"));
  EXPECT_THAT(shown.out, HasSubstr("--webhook-authority=berth-webhook-ca\n"));
  for (const auto& [wrong, says] : std::vector<std::pair<std::string, std::string>>{
           {"--webhook-certificates=off", "must not be off"},
           {"--webhook-authority=berth-webhook-tls", "the webhook mounts that"},
           {"--webhook-certificates-check=1ms", "at least 100ms"},
           {"--health-probe-bind-address=nowhere", "--health-probe-bind-address"}}) {
    const Ran ran = run_berth({"certificates", wrong});
    EXPECT_EQ(ran.exit_code, 1) << wrong;
    EXPECT_THAT(ran.err, HasSubstr(says)) << wrong;
  }
}

}  // namespace
}  // namespace berth::test
