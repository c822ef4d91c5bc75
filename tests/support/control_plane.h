// SPDX-License-Identifier: Apache-2.0
// ControlPlane: etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok, as plain
// processes on loopback, ready in a few seconds. Everything lives in one scratch folder
// (certificates, data, logs, the audit log), which is kept and named when a test fails.
//
// kwok plays the kubelets: it keeps nodes Ready and runs the pods bound to them, with five changes
// to the stages it ships:
//   - a Job's pod ends only when annotated test.berth.dev/finish: "true" (kwok's own stage ends it
//   at once);
//   - a running pod that is deleted first ends as Failed, exit code 143, and goes then;
//   - a pod annotated test.berth.dev/linger: "true" stays Terminating;
//   - a pod annotated test.berth.dev/never-ready: "true" stays Pending after it is bound;
//   - a node annotated test.berth.dev/not-ready: "true" is left NotReady, as the node agent's
//   reboots need.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tests/support/certs.h"
#include "tests/support/child.h"
#include "tests/support/kube.h"

namespace berth::test {

// The folder with the control plane's binaries: $BERTH_CONTROL_PLANE, else what
// tests/apiserver/build-tools prints (it builds them once, which takes minutes). Throws
// std::runtime_error if they can be had neither way.
std::string control_plane_binaries();

class ControlPlane {
 public:
  struct Options {
    std::string scratch_parent;  // empty: $BERTH_SCRATCH, else $TMPDIR, else /tmp
    bool watch_cache = true;  // false: watches of nodes, pods and layouts read etcd itself, so that
                              // a compaction answers them 410
    bool audit = true;
    // False: etcd and the API server alone, for what the server itself does. Pods then need no
    // service account, which nobody would make.
    bool controllers = true;
  };
  ControlPlane();
  explicit ControlPlane(Options options);
  ~ControlPlane();
  ControlPlane(const ControlPlane&) = delete;

  // An administrator's client, for the test's main thread.
  Kube& kube() { return *kube_; }
  // Credentials for another client, in these groups; the audit log shows it as `user`.
  Credentials credentials(const std::string& user,
                          const std::vector<std::string>& groups = {"system:masters"});
  // Writes a kubeconfig of such a user, or of a caller's credentials, into the scratch folder and
  // returns its path.
  std::string write_kubeconfig(const std::string& user);
  std::string write_kubeconfig(const std::string& file, const Credentials& credentials);
  // A serving certificate for 127.0.0.1 and localhost, for servers that stand before or beside the
  // API server.
  KeyPair issue_server() { return authority_.issue_server({"localhost", "127.0.0.1"}); }
  const std::string& authority_pem() const { return authority_.certificate(); }
  // The API server shows webhooks a certificate of this authority, under this common name.
  std::string authority_file() const { return scratch_ + "/ca.crt"; }
  static constexpr char kWebhookCaller[] = "apiserver-webhooks";

  const std::string& scratch() const { return scratch_; }
  std::string audit_log() const { return scratch_ + "/audit.log"; }
  const std::string& server() const { return server_; }
  std::string describe() const;  // where things are, for a failing test's output
  void keep_scratch() { keep_scratch_ = true; }

  void restart_apiserver();  // ends it, starts it again, waits until it is ready
  // Forgets every revision but the newest: a watch from an older one is answered 410.
  void compact_etcd();
  // What etcd holds now, and that again: as a snapshot of it is restored, with the API server down.
  void save_etcd();
  void restore_etcd();
  Child& apiserver() { return *apiserver_; }
  Child& controller_manager() { return *controller_manager_; }
  Child& scheduler() { return *scheduler_; }

 private:
  std::string write(const std::string& name, const std::string& text);
  std::string program(const std::string& name) const { return binaries_ + "/" + name; }
  void write_admission_configuration();
  void start_etcd();
  // While etcd and the API server are down.
  void between_lives(const std::function<void()>& change);
  void start_apiserver();  // and waits until it is ready
  void start_apiserver_process();
  void wait_for_our_kinds();
  void wait_ready();
  void start_controllers();
  std::string write_stages();
  void prepare_namespaces();

  Options options_;
  std::string binaries_;
  std::string scratch_;
  bool keep_scratch_ = false;
  Authority authority_;
  std::string server_;
  int apiserver_port_ = 0;
  int etcd_port_ = 0;
  std::unique_ptr<Kube> kube_;
  // In the order they start; destroyed the other way round.
  std::unique_ptr<Child> etcd_, apiserver_, controller_manager_, scheduler_, kwok_;
};

}  // namespace berth::test
