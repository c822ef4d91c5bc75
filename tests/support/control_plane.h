// SPDX-License-Identifier: Apache-2.0
// ControlPlane: etcd, kube-apiserver, kube-controller-manager, kube-scheduler and kwok, as plain
// processes on loopback, ready in a few seconds. All files are in one scratch folder (certificates,
// data, logs, the audit log). If a test fails, the folder is kept and its path is printed.
//
// kwok simulates the kubelets: it keeps nodes Ready and runs the pods bound to them, with five
// changes to its own stages:
//   - A Job's pod completes only when annotated test.berth.dev/finish: "true" (kwok's own stage
//     completes it at once).
//   - A running pod that is deleted first becomes Failed with exit code 143, and is then removed.
//   - A pod annotated test.berth.dev/linger: "true" stays Terminating.
//   - A pod annotated test.berth.dev/never-ready: "true" stays Pending after it is bound.
//   - A node annotated test.berth.dev/not-ready: "true" stays NotReady; the node agent's reboots
//     need this.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tests/support/certs.h"
#include "tests/support/child.h"
#include "tests/support/kube.h"

namespace berth::test {

// The folder with the control plane's binaries: $BERTH_CONTROL_PLANE, else the folder that
// tests/apiserver/build-tools prints (it builds them once, which takes minutes). Throws
// std::runtime_error if neither exists.
std::string control_plane_binaries();

class ControlPlane {
 public:
  struct Options {
    std::string scratch_parent;  // empty: $BERTH_SCRATCH, else $TMPDIR, else /tmp
    bool watch_cache = true;  // false: watches of nodes, pods and layouts read etcd itself, so that
                              // a compaction answers them 410
    bool audit = true;
    // False: only etcd and the API server, for tests of the server itself. Pods then need no
    // service account, since no controller would create it.
    bool controllers = true;
  };
  ControlPlane();
  explicit ControlPlane(Options options);
  ~ControlPlane();
  ControlPlane(const ControlPlane&) = delete;

  // An administrator's client for the test's main thread.
  Kube& kube() { return *kube_; }
  // Credentials for another client in these groups; the audit log shows it as `user`.
  Credentials credentials(const std::string& user,
                          const std::vector<std::string>& groups = {"system:masters"});
  // Writes a kubeconfig for such a user, or for given credentials, into the scratch folder and
  // returns its path.
  std::string write_kubeconfig(const std::string& user);
  std::string write_kubeconfig(const std::string& file, const Credentials& credentials);
  // A serving certificate for 127.0.0.1 and localhost, for proxies and other test servers.
  KeyPair issue_server() { return authority_.issue_server({"localhost", "127.0.0.1"}); }
  const std::string& authority_pem() const { return authority_.certificate(); }
  // The API server authenticates to webhooks with a certificate of this authority and common name.
  std::string authority_file() const { return scratch_ + "/ca.crt"; }
  static constexpr char kWebhookCaller[] = "apiserver-webhooks";

  const std::string& scratch() const { return scratch_; }
  std::string audit_log() const { return scratch_ + "/audit.log"; }
  const std::string& server() const { return server_; }
  std::string describe() const;  // where its files are, for a failing test's output
  void keep_scratch() { keep_scratch_ = true; }

  void restart_apiserver();  // stops it, starts it again, waits until it is ready
  // Removes all revisions but the newest: a watch from an older revision gets 410.
  void compact_etcd();
  // Saves etcd's present content, and restores it later like a snapshot, with the API server down.
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
  // Runs `change` while etcd and the API server are down.
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
  // In the order of their start; destroyed in reverse.
  std::unique_ptr<Child> etcd_, apiserver_, controller_manager_, scheduler_, kwok_;
};

}  // namespace berth::test
