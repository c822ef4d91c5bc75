// SPDX-License-Identifier: Apache-2.0
#include "controller/client/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apis/base/base64.h"
#include "controller/client/exec_credential.h"
#include "tests/client/fake_host.h"

namespace berth {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// "-----BEGIN X-----\n"
constexpr char kPemBase64[] = "LS0tLS1CRUdJTiBYLS0tLS0K";

// One cluster, user and context, with extra lines for the cluster and the user.
std::string config(const std::string& cluster, const std::string& user) {
  return "current-context: prod\n"
         "contexts: [{name: prod, context: {cluster: c, user: u, namespace: gpus}}]\n"
         "clusters:\n- name: c\n  cluster:\n" +
         cluster + "users:\n- name: u\n  user:\n" + user;
}

Result<ClientConfig> load(const FakeHost& host, const ConfigFlags& flags = {}) {
  return load_client_config(host, flags);
}

TEST(Kubeconfig, ReadsAContextWithEverything) {
  FakeHost host;
  host.variables["HOME"] = "/home/u";
  host.files["/home/u/.kube/config"] = config(
      "    server: https://api.example:6443/\n    certificate-authority: pki/ca.crt\n"
      "    tls-server-name: kubernetes\n    proxy-url: http://proxy.example.com:3128\n",
      std::string("    client-certificate-data: ") + kPemBase64 +
          "\n    client-key: /keys/k.pem\n    tokenFile: token\n    token: old\n"
          "    as: robot\n    as-uid: '7'\n    as-groups: [a, b]\n");
  host.files["/home/u/.kube/pki/ca.crt"] = "ca";
  host.files["/home/u/.kube/token"] = "t";
  host.files["/keys/k.pem"] = "k";
  Result<ClientConfig> got = load(host);
  ASSERT_TRUE(got.has_value()) << describe(got.error());
  EXPECT_EQ(got->server, "https://api.example:6443");
  EXPECT_EQ(got->certificate_authority.file, "/home/u/.kube/pki/ca.crt");
  EXPECT_EQ(got->tls_server_name, "kubernetes");
  EXPECT_EQ(got->proxy_url, "http://proxy.example.com:3128");
  EXPECT_EQ(got->client_certificate.data, "-----BEGIN X-----\n");
  EXPECT_EQ(got->client_key.file, "/keys/k.pem");
  EXPECT_EQ(got->token_file, "/home/u/.kube/token");
  EXPECT_EQ(got->token, "old");
  EXPECT_EQ(got->impersonate_user, "robot");
  EXPECT_EQ(got->impersonate_uid, "7");
  EXPECT_THAT(got->impersonate_groups, ElementsAre("a", "b"));
  EXPECT_EQ(got->namespace_, "gpus");
  EXPECT_EQ(got->origin, "context prod of /home/u/.kube/config");
}

TEST(Kubeconfig, TheFirstFileOfTheListWinsAndMissingOnesAreSkipped) {
  FakeHost host;
  host.variables["KUBECONFIG"] = ":/a:/missing::/b";
  host.files["/a"] =
      "users: [{name: u, user: {token: from-a}}]\n"
      "contexts: [{name: x, context: {cluster: c, user: u}}]\n";
  host.files["/b"] =
      "current-context: x\n"
      "clusters: [{name: c, cluster: {server: 'https://b'}}]\n"
      "users: [{name: u, user: {token: from-b}}]\n";
  Result<ClientConfig> got = load(host);
  ASSERT_TRUE(got.has_value()) << describe(got.error());
  EXPECT_EQ(got->server, "https://b");
  EXPECT_EQ(got->token, "from-a");
  EXPECT_EQ(got->namespace_, "default");
}

TEST(Kubeconfig, FlagsWin) {
  FakeHost host;
  host.variables["KUBECONFIG"] = "/ignored";
  host.files["/ignored"] = "[";
  host.files["/k"] =
      "current-context: x\n"
      "contexts:\n- {name: x, context: {cluster: c}}\n"
      "- {name: y, context: {cluster: d, namespace: n}}\n"
      "clusters:\n- {name: c, cluster: {server: 'https://c'}}\n"
      "- {name: d, cluster: {server: 'https://d', insecure-skip-tls-verify: true}}\n";
  Result<ClientConfig> got = load(
      host, {.kubeconfig = "/k", .context = "y", .namespace_ = "m", .allow_insecure_tls = true});
  ASSERT_TRUE(got.has_value()) << describe(got.error());
  EXPECT_EQ(got->server, "https://d");
  EXPECT_EQ(got->namespace_, "m");
  EXPECT_TRUE(got->insecure_skip_tls_verify);
}

struct BadCase {
  const char* sentence;
  std::string text;
  std::vector<std::string> said;  // parts of the message
};

TEST(Kubeconfig, SaysWhichFileAndFieldIsWrong) {
  const std::string ok = "    server: https://h\n";
  const std::vector<BadCase> cases = {
      {"not YAML", "a: [1,\nb: }", {"/k:", "not YAML"}},
      {"a list at the top", "- a", {"/k: must be a mapping"}},
      {"clusters is a mapping", "clusters: {a: b}", {"/k: clusters: must be a list"}},
      {"an entry without a name", "users: [{user: {}}]", {"/k: users[0].name: is missing"}},
      {"a list where a token belongs",
       config(ok, "    token: [1]\n"),
       {"/k: users[0].user.token: must be a string"}},
      {"a flag that is none",
       config(ok + "    insecure-skip-tls-verify: maybe\n", "    {}\n"),
       {"/k: clusters[0].cluster.insecure-skip-tls-verify: must be true or false"}},
      {"base64 that is none",
       config(ok + "    certificate-authority-data: '%%'\n", "    {}\n"),
       {"/k: clusters[0].cluster.certificate-authority-data: is not base64"}},
      {"base64 of something else",
       config(ok, "    client-key-data: aGVsbG8=\n"),
       {"/k: users[0].user.client-key-data", "PEM"}},
      {"no current context", "contexts: [{name: a}, {name: b}]", {"--context", "it has a, b"}},
      {"an unknown context",
       "current-context: z\ncontexts: [{name: a}]",
       {"no context \"z\"", "it has a"}},
      {"an unknown cluster",
       "current-context: a\ncontexts: [{name: a, context: {cluster: q}}]",
       {"/k: contexts[0].context.cluster", "no cluster \"q\"", "it has none"}},
      {"an unknown user",
       "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: q}}]\n"
       "clusters: [{name: c, cluster: {server: 'https://h'}}]",
       {"/k: contexts[0].context.user", "no user \"q\""}},
      {"no server", config("    {}\n", "    {}\n"), {"/k: clusters[0].cluster.server: is missing"}},
      {"a server without a scheme",
       config("    server: h:6443\n", "    {}\n"),
       {"server", "write https://HOST:PORT"}},
      {"a server with a password",
       config("    server: https://u:secret@h\n", "    {}\n"),
       {"/k: clusters[0].cluster.server: is not a server"}},
      {"a server with a line break",
       config("    server: \"https://h\\r\\nX: y\"\n", "    {}\n"),
       {"is not a server"}},
      {"a server without TLS",
       config("    server: http://10.0.0.1\n", "    {}\n"),
       {"in the clear"}},
      {"a proxy of another kind",
       config(ok + "    proxy-url: ftp://u:secret@p\n", "    {}\n"),
       {"/k: clusters[0].cluster.proxy-url: is not a proxy"}},
      {"unverified TLS",
       config(ok + "    insecure-skip-tls-verify: true\n", "    {}\n"),
       {"/k: clusters[0].cluster.insecure-skip-tls-verify", "--insecure-skip-tls-verify"}},
      {"a CA file that is not there",
       config(ok + "    certificate-authority: ca\n", "    {}\n"),
       {"/k: clusters[0].cluster.certificate-authority: cannot read /ca: No such file"}},
      {"a key that may not be read",
       config(ok, "    client-certificate: /ok\n    client-key: /secret\n"),
       {"/k: users[0].user.client-key: cannot read /secret: Permission denied"}},
      {"a certificate without a key",
       config(ok, "    client-certificate: /ok\n"),
       {"/k: users[0].user", "belong together"}},
      {"half of a basic login", config(ok, "    username: a\n"), {"belong together"}},
      {"two ways to log in",
       config(ok, "    username: a\n    password: b\n    token: t\n"),
       {"keep one"}},
      {"a credential plugin, for a service",
       config(ok, "    exec: {command: aws}\n"),
       {"/k: users[0].user.exec", "run no credential plugins", "kubectl create token"}},
      {"a plugin's arguments in one string",
       config(ok, "    exec: {command: aws, args: get-token}\n"),
       {"/k: users[0].user.exec.args: must be a list"}},
      {"a plugin's variable that is a list",
       config(ok, "    exec: {command: aws, env: [{name: A, value: [b]}]}\n"),
       {"/k: users[0].user.exec.env[0].value: must be a string"}},
      {"an auth provider",
       config(ok, "    auth-provider: {name: gcp}\n"),
       {"/k: users[0].user.auth-provider", "1.26"}},
      {"groups of nobody", config(ok, "    as-groups: [a]\n"), {"need as"}},
  };
  for (const BadCase& c : cases) {
    SCOPED_TRACE(c.sentence);
    FakeHost host;
    host.files = {{"/k", c.text}, {"/ok", "x"}, {"/secret", FakeHost::kUnreadable}};
    Result<ClientConfig> got = load(host, {.kubeconfig = "/k"});
    ASSERT_FALSE(got.has_value());
    for (const std::string& part : c.said) EXPECT_THAT(describe(got.error()), HasSubstr(part));
    EXPECT_THAT(describe(got.error()), ::testing::Not(HasSubstr("u:secret")));
  }
}

TEST(Kubeconfig, AnotherUsersPluginIsNoMatter) {
  FakeHost host;
  host.files["/k"] = config("    server: https://h\n", "    token: t\n") +
                     "- {name: other, user: {exec: {command: aws}}}\n";
  EXPECT_TRUE(load(host, {.kubeconfig = "/k"}).has_value());
}

constexpr char kExec[] =
    "    exec:\n      apiVersion: client.authentication.k8s.io/v1\n      command: bin/login\n"
    "      args: [get, --cluster=a b]\n      env: [{name: A, value: b}, {name: C, value: '1'}]\n"
    "      interactiveMode: Never\n      installHint: brew install login\n";

Result<ClientConfig> load_as_person(const FakeHost& host) {
  return load_client_config(host, {.kubeconfig = "/home/u/k"}, ExecPlugins::kAccepted);
}

TEST(Kubeconfig, ReadsACredentialPlugin) {
  FakeHost host;
  host.files["/home/u/k"] = config("    server: https://h\n", kExec);
  Result<ClientConfig> got = load_as_person(host);
  ASSERT_TRUE(got.has_value()) << describe(got.error());
  ASSERT_TRUE(got->exec.has_value());
  EXPECT_EQ(got->exec->command, "/home/u/bin/login") << "a path is relative to the file's folder";
  EXPECT_THAT(got->exec->arguments, ElementsAre("get", "--cluster=a b"));
  EXPECT_THAT(got->exec->environment, ElementsAre(std::pair("A", "b"), std::pair("C", "1")));
  EXPECT_EQ(got->exec->input, ExecPlugin::Input::kNever);
  EXPECT_EQ(got->exec->install_hint, "brew install login");
  EXPECT_EQ(got->exec->cluster, "") << "it has not asked";
  EXPECT_EQ(encode_exec_info(*got->exec, false),
            R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)"
            R"("spec":{"interactive":false}})");
}

TEST(Kubeconfig, APluginThatAsksIsToldOfItsCluster) {
  FakeHost host;
  host.files["/home/u/ca.crt"] = "ca";
  host.files["/home/u/k"] = config(
      "    server: https://h\n    certificate-authority: ca.crt\n"
      "    tls-server-name: kubernetes\n    extensions:\n"
      "    - {name: other, extension: 1}\n    - name: client.authentication.k8s.io/exec\n"
      "      extension: {audience: x, days: 3, deep: [{yes: 'no'}]}\n",
      std::string(kExec) + "      provideClusterInfo: true\n");
  Result<ClientConfig> got = load_as_person(host);
  ASSERT_TRUE(got.has_value()) << describe(got.error());
  EXPECT_EQ(encode_exec_info(*got->exec, true),
            R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","spec":)"
            R"({"cluster":{"certificate-authority-data":"Y2E=","config":{"audience":"x","days":3,)"
            R"("deep":[{"yes":"no"}]},"server":"https://h","tls-server-name":"kubernetes"},)"
            R"("interactive":true}})");
}

TEST(Kubeconfig, APluginIsNotRunWhereTheFileSaysWhoTheUserIs) {
  FakeHost host;
  host.files["/home/u/k"] =
      config("    server: https://h\n", std::string("    token: t\n") + kExec);
  Result<ClientConfig> got = load_as_person(host);
  ASSERT_TRUE(got.has_value()) << describe(got.error());
  EXPECT_FALSE(got->exec.has_value());
  EXPECT_EQ(got->token, "t");
}

TEST(Kubeconfig, SaysWhatIsWrongWithAPlugin) {
  const std::string v1 = "apiVersion: client.authentication.k8s.io/v1";
  const std::vector<BadCase> cases = {
      {"no version", "command: a", {"exec.apiVersion: must be", "/v1 or /v1beta1"}},
      {"a version that has gone",
       "apiVersion: client.authentication.k8s.io/v1alpha1, command: a",
       {"not \"client.authentication.k8s.io/v1alpha1\""}},
      {"no command", v1 + ", interactiveMode: Never", {"exec.command: is missing"}},
      {"v1 without interactiveMode", v1 + ", command: a", {"exec.interactiveMode: is missing"}},
      {"another interactiveMode",
       v1 + ", command: a, interactiveMode: never",
       {"exec.interactiveMode: must be Never, IfAvailable or Always, not \"never\""}},
      {"a variable without a name",
       v1 + ", command: a, interactiveMode: Never, env: [{value: b}]",
       {"exec.env: \"\" is not a variable's name"}},
  };
  for (const BadCase& c : cases) {
    SCOPED_TRACE(c.sentence);
    FakeHost host;
    host.files["/home/u/k"] = config("    server: https://h\n", "    exec: {" + c.text + "}\n");
    Result<ClientConfig> got = load_as_person(host);
    ASSERT_FALSE(got.has_value());
    for (const std::string& part : c.said) EXPECT_THAT(describe(got.error()), HasSubstr(part));
  }
}

TEST(Kubeconfig, RunsOnlyTheCredentialPluginsThatAreAllowed) {
  FakeHost host;
  const auto load = [&](const std::string& command, std::vector<std::string> allowed) {
    host.files["/home/u/k"] = config("    server: https://h\n",
                                     "    exec: {apiVersion: client.authentication.k8s.io/v1beta1,"
                                     " command: " +
                                         command + "}\n");
    return load_client_config(host, {.kubeconfig = "/home/u/k", .exec_plugins = std::move(allowed)},
                              ExecPlugins::kAccepted);
  };
  EXPECT_TRUE(load("aws", {"all"}).has_value());
  EXPECT_TRUE(load("aws", {"gcloud", "aws"}).has_value());
  EXPECT_TRUE(load("bin/aws", {"/home/u/bin/aws"}).has_value());
  for (const auto& [command, allowed] : std::vector<std::pair<std::string, std::string>>{
           {"aws", "none"}, {"aws", "/usr/bin/aws"}, {"bin/aws", "aws"}, {"aws", "aw"}}) {
    const Result<ClientConfig> refused = load(command, {allowed});
    ASSERT_FALSE(refused.has_value()) << command << " by " << allowed;
    EXPECT_THAT(describe(refused.error()),
                AllOf(HasSubstr("/k: users[0].user.exec.command: the credential plugin"),
                      HasSubstr("as --exec-plugins is " + allowed),
                      HasSubstr("say --exec-plugins=" +
                                (command == "aws" ? "aws" : "/home/u/" + command))));
  }
}

TEST(ExecCredential, ReadsWhatAPluginPrints) {
  const ExecPlugin plugin{.api_version = "client.authentication.k8s.io/v1beta1"};
  const auto decode = [&](const std::string& status) {
    return decode_exec_credential(
        plugin,
        R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1beta1","spec":{},)" +
            status + "}");
  };
  Result<ExecCredential> got =
      decode(R"("status":{"token":"t","expirationTimestamp":"2026-11-22T08:00:00Z"})");
  ASSERT_TRUE(got.has_value()) << describe(got.error());
  EXPECT_EQ(got->token, "t");
  EXPECT_EQ(got->expires, *parse_time("2026-11-22T08:00:00Z"));
  got = decode(R"("status":{"clientCertificateData":"c","clientKeyData":"k","token":null})");
  ASSERT_TRUE(got.has_value()) << describe(got.error());
  EXPECT_EQ(got->certificate, "c");
  EXPECT_EQ(got->key, "k");

  const std::vector<std::pair<std::string, const char*>> bad = {
      {R"("status":null)", "has no status"},
      {R"("status":{})", "neither a token nor a client certificate"},
      {R"("status":{"clientKeyData":"k"})", "belong together"},
      {R"("status":{"token":7})", "its token is not a string"},
      {R"("status":{"token":"hush","expirationTimestamp":"soon"})", "is not a time"},
      {R"("kind":"Config","status":{"token":"hush"})", "it printed a \"Config\""},
      {R"("apiVersion":"v9","status":{"token":"hush"})", "apiVersion \"v9\""},
      {"}", "is not a JSON object"},
  };
  for (const auto& [status, said] : bad) {
    const Result<ExecCredential> refused = decode(status);
    ASSERT_FALSE(refused.has_value()) << status;
    EXPECT_THAT(describe(refused.error()), HasSubstr(said));
    EXPECT_THAT(describe(refused.error()), ::testing::Not(HasSubstr("hush")));
  }
}

TEST(Kubeconfig, PlainHttpIsForThisMachine) {
  for (const char* server : {"http://localhost:8001", "http://127.0.0.1", "http://[::1]:80"}) {
    FakeHost host;
    host.files["/k"] = config(std::string("    server: '") + server + "'\n", "    {}\n");
    EXPECT_TRUE(load(host, {.kubeconfig = "/k"}).has_value()) << server;
  }
}

FakeHost pod() {
  FakeHost host;
  host.variables = {{"KUBERNETES_SERVICE_HOST", "fd00::1"}, {"KUBERNETES_SERVICE_PORT", "443"}};
  const std::string folder = "/var/run/secrets/kubernetes.io/serviceaccount/";
  host.files = {
      {folder + "token", "t"}, {folder + "ca.crt", "c"}, {folder + "namespace", "berth\n"}};
  return host;
}

TEST(InClusterConfig, ReadsTheServiceAccount) {
  Result<ClientConfig> got = load(pod());
  ASSERT_TRUE(got.has_value()) << describe(got.error());
  EXPECT_EQ(got->server, "https://[fd00::1]:443");
  EXPECT_EQ(got->token_file, "/var/run/secrets/kubernetes.io/serviceaccount/token");
  EXPECT_EQ(got->certificate_authority.file,
            "/var/run/secrets/kubernetes.io/serviceaccount/ca.crt");
  EXPECT_EQ(got->namespace_, "berth");
}

TEST(InClusterConfig, SaysWhatIsMissing) {
  FakeHost no_token = pod();
  no_token.files.erase("/var/run/secrets/kubernetes.io/serviceaccount/token");
  EXPECT_THAT(describe(load(no_token).error()), HasSubstr("automountServiceAccountToken"));
  FakeHost bad_port = pod();
  bad_port.variables["KUBERNETES_SERVICE_PORT"] = "70000";
  EXPECT_THAT(describe(load(bad_port).error()), HasSubstr("KUBERNETES_SERVICE_PORT: \"70000\""));
  FakeHost bad_host = pod();
  bad_host.variables["KUBERNETES_SERVICE_HOST"] = "a\r\nb";
  EXPECT_FALSE(load(bad_host).has_value());
  EXPECT_THAT(describe(load(FakeHost()).error()), HasSubstr("--kubeconfig FILE"));
  EXPECT_THAT(describe(load(pod(), {.context = "x"}).error()), HasSubstr("no kubeconfig file"));
}

TEST(Base64, EncodesWhatItDecodes) {
  EXPECT_EQ(encode_base64(""), "");
  EXPECT_EQ(encode_base64("M"), "TQ==");
  EXPECT_EQ(encode_base64("Ma"), "TWE=");
  EXPECT_EQ(encode_base64("Man"), "TWFu");
  EXPECT_EQ(encode_base64("\xfb\xff\xbf"), "+/+/");
}

TEST(Base64, DecodesOnlyWhatIsBase64) {
  EXPECT_EQ(decode_base64(""), "");
  EXPECT_EQ(decode_base64("TQ=="), "M");
  EXPECT_EQ(decode_base64("TWE="), "Ma");
  EXPECT_EQ(decode_base64("TW\r\nFu"), "Man");
  EXPECT_EQ(decode_base64("+/+/"), "\xfb\xff\xbf");
  for (const char* bad : {"T", "TQ", "TQ=", "TQ===", "====", "T=Q=", "TW-u", "TWE=TWE="}) {
    EXPECT_EQ(decode_base64(bad), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace berth
