// SPDX-License-Identifier: Apache-2.0
// The account of the certificate manager process: requests that RBAC refuses, that its policy
// refuses, and that it needs.
#include "tests/apiserver/chart_acts.h"

namespace berth::test {
namespace {

constexpr char kCannot[] = "User \"system:serviceaccount:berth-system:berth-certificates\" cannot";
constexpr char kBundleOnly[] = "nothing of a webhook but caBundle";
constexpr char kMutating[] =
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/berth-webhook";
constexpr char kValidating[] =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/berth-webhook";
constexpr char kSecrets[] = "/api/v1/namespaces/berth-system/secrets";
constexpr char kAuthority[] = "/api/v1/namespaces/berth-system/secrets/berth-webhook-ca";

constexpr char kConfiguration[] =
    R"({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingWebhookConfiguration",)"
    R"( "metadata": {"name": "mine"}})";

const Act kBeyond[] = {
    {"read pods", "GET", "/api/v1/pods", "", kCannot},
    {"read nodes", "GET", "/api/v1/nodes", "", kCannot},
    {"read namespaces", "GET", "/api/v1/namespaces", "", kCannot},
    {"read all Secrets", "GET", "/api/v1/secrets", "", kCannot},
    {"list the Secrets of its namespace", "GET", kSecrets, "", kCannot},
    {"read another Secret of its namespace", "GET", "/api/v1/namespaces/berth-system/secrets/other",
     "", kCannot},
    {"delete the webhook's certificate", "DELETE",
     "/api/v1/namespaces/berth-system/secrets/berth-webhook-tls", "", kCannot},
    {"change another Secret of its namespace", "PATCH",
     "/api/v1/namespaces/berth-system/secrets/other", R"({"data": {"a": ""}})", kCannot},
    {"make a Secret elsewhere", "POST", "/api/v1/namespaces/kube-system/secrets",
     R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "berth-webhook-tls"}})",
     kCannot},
    {"make a webhook configuration", "POST",
     "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", kConfiguration,
     kCannot},
    {"delete a webhook configuration", "DELETE", kMutating, "", kCannot},
    {"change another's webhook", "PATCH",
     "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/other",
     R"({"webhooks": null})", kCannot},
    {"list webhook configurations", "GET",
     "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", "", kCannot},
    {"loosen its own policy", "PATCH",
     "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/berth-certificates",
     R"({"spec": {"failurePolicy": "Ignore"}})", kCannot},
    {"unbind its own policy", "DELETE",
     "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/berth-certificates",
     "", kCannot},
    {"widen its own role", "PATCH",
     "/apis/rbac.authorization.k8s.io/v1/clusterroles/berth-certificates", R"({"rules": []})",
     kCannot},
    {"make itself administrator", "POST", "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
     kToAdmin, kCannot},
    {"cordon a node", "PATCH", "/api/v1/nodes/n1", R"({"spec": {"unschedulable": true}})", kCannot},
    {"name a MIG configuration", "PATCH", "/api/v1/nodes/n1",
     R"({"metadata": {"labels": {"nvidia.com/mig.config": "all-disabled"}}})", kCannot},
    {"evict", "POST", "/api/v1/namespaces/team-a/pods/victim/eviction",
     R"({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "victim"}})", kCannot},
    {"delete a pod", "DELETE", "/api/v1/namespaces/team-a/pods/victim", "", kCannot},
    {"run a pod", "POST", "/api/v1/namespaces/berth-system/pods", kPod, kCannot},
    {"run a command in a pod", "POST",
     "/api/v1/namespaces/team-a/pods/victim/exec?command=id&stdout=true", "", kCannot},
    {"read the ledger", "GET", "/api/v1/namespaces/berth-system/configmaps/berth-node-slots", "",
     kCannot},
    {"write a ConfigMap", "POST", "/api/v1/namespaces/berth-system/configmaps", kMap, kCannot},
    {"take the controller's Lease", "PATCH",
     "/apis/coordination.k8s.io/v1/namespaces/berth-system/leases/berth-controller",
     R"({"spec": {"holderIdentity": "mine"}})", kCannot},
    {"read layouts", "GET", "/apis/gpu.berth.dev/v1alpha1/miglayouts", "", kCannot},
    {"make a layout", "POST", "/apis/gpu.berth.dev/v1alpha1/miglayouts", kLayout, kCannot},
    {"make a token of the controller's", "POST",
     "/api/v1/namespaces/berth-system/serviceaccounts/berth/token",
     R"({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})", kCannot},
    {"change its own Deployment", "PATCH",
     "/apis/apps/v1/namespaces/berth-system/deployments/berth-certificates",
     R"({"spec": {"replicas": 0}})", kCannot},
    {"point the webhook's Service elsewhere", "PATCH",
     "/api/v1/namespaces/berth-system/services/berth-webhook",
     R"({"spec": {"selector": {"app": "mine"}}})", kCannot},
    {"relabel a namespace", "PATCH", "/api/v1/namespaces/team-a",
     R"({"metadata": {"labels": {"gpu.berth.dev/managed": "true"}}})", kCannot},
};

const Act kConfined[] = {
    {"make an opaque Secret", "POST", kSecrets,
     R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "berth-webhook-tls"},)"
     R"( "type": "Opaque"})",
     "of type kubernetes.io/tls only"},
    {"have pods sent to another server", "PATCH", kMutating,
     R"({"webhooks": [{"name": "pods.gpu.berth.dev", "clientConfig": {"url": "https://evil.example/", "service": null}}]})",
     kBundleOnly},
    {"have layouts sent to another server", "PATCH", kValidating,
     R"({"webhooks": [{"name": "kinds.gpu.berth.dev", "clientConfig": {"url": "https://evil.example/", "service": null}}]})",
     kBundleOnly},
    {"have pods sent to another Service", "PATCH", kMutating,
     R"({"webhooks": [{"name": "pods.gpu.berth.dev", "clientConfig": {"service": {"namespace": "default", "name": "evil"}}}]})",
     kBundleOnly},
    {"have pods sent to another path", "PATCH", kMutating,
     R"({"webhooks": [{"name": "pods.gpu.berth.dev", "clientConfig": {"service": {"path": "/evil"}}}]})",
     kBundleOnly},
    {"have pods sent to another port", "PATCH", kMutating,
     R"({"webhooks": [{"name": "pods.gpu.berth.dev", "clientConfig": {"service": {"port": 8443}}}]})",
     kBundleOnly},
    {"another server under the right bundle", "PATCH", kMutating,
     R"({"webhooks": [{"name": "pods.gpu.berth.dev", "clientConfig": {"caBundle": "", "service": {"port": 8443}}}]})",
     kBundleOnly},
    {"have everything sent", "PATCH", kMutating,
     R"({"webhooks": [{"name": "pods.gpu.berth.dev", "rules": [{"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*/*"], "operations": ["*"]}]}]})",
     kBundleOnly},
    {"have Secrets sent", "PATCH", kValidating,
     R"({"webhooks": [{"name": "pods.gpu.berth.dev", "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["secrets"], "operations": ["CREATE"]}]}]})",
     kBundleOnly},
    {"have nothing sent", "PATCH", kMutating,
     R"({"webhooks": [{"name": "pods.gpu.berth.dev", "rules": null}]})", kBundleOnly},
    {"reach into every namespace", "PATCH", kMutating,
     R"({"webhooks": [{"name": "pods.gpu.berth.dev", "namespaceSelector": null}]})", kBundleOnly},
    {"reach into the excluded namespaces", "PATCH", kMutating,
     R"({"webhooks": [{"name": "pods.gpu.berth.dev", "namespaceSelector": {"matchExpressions": null}}]})",
     kBundleOnly},
    {"reach into namespaces that have not opted in", "PATCH", kValidating,
     R"({"webhooks": [{"name": "pods.gpu.berth.dev", "namespaceSelector": {"matchLabels": null}}]})",
     kBundleOnly},
    {"spare what bears a label", "PATCH", kValidating,
     R"({"webhooks": [{"name": "pods.gpu.berth.dev", "objectSelector": {"matchLabels": {"mine": "true"}}}]})",
     kBundleOnly},
    {"drop the conditions", "PATCH", kMutating,
     R"({"webhooks": [{"name": "pods.gpu.berth.dev", "matchConditions": null}]})", kBundleOnly},
    {"let everything through that nobody reviews", "PATCH", kMutating,
     R"({"webhooks": [{"name": "pods.gpu.berth.dev", "failurePolicy": "Ignore"}]})", kBundleOnly},
    {"have layouts wait for it", "PATCH", kValidating,
     R"({"webhooks": [{"name": "kinds.gpu.berth.dev", "failurePolicy": "Fail"}]})", kBundleOnly},
    {"ask about one version only", "PATCH", kMutating,
     R"({"webhooks": [{"name": "pods.gpu.berth.dev", "matchPolicy": "Exact"}]})", kBundleOnly},
    {"hold every pod up", "PATCH", kMutating,
     R"({"webhooks": [{"name": "pods.gpu.berth.dev", "timeoutSeconds": 30}]})", kBundleOnly},
    {"claim side effects", "PATCH", kMutating,
     R"({"webhooks": [{"name": "pods.gpu.berth.dev", "sideEffects": "NoneOnDryRun"}]})",
     kBundleOnly},
    {"not be asked again", "PATCH", kMutating,
     R"({"webhooks": [{"name": "pods.gpu.berth.dev", "reinvocationPolicy": "Never"}]})",
     kBundleOnly},
    {"ask for older reviews", "PATCH", kMutating,
     R"({"webhooks": [{"name": "pods.gpu.berth.dev", "admissionReviewVersions": ["v1beta1", "v1"]}]})",
     kBundleOnly},
    {"take a webhook away", "PATCH", kValidating,
     R"({"webhooks": [{"$patch": "delete", "name": "jobs.gpu.berth.dev"}]})", kBundleOnly},
    {"take all webhooks away", "PATCH", kMutating, R"({"webhooks": null})", kBundleOnly},
    {"add a webhook", "PATCH", kMutating,
     R"({"webhooks": [{"name": "mine.evil.example", "clientConfig": {"url": "https://evil.example/"}, "sideEffects": "None",)"
     R"( "admissionReviewVersions": ["v1"]}]})",
     kBundleOnly},
    {"have cert-manager take over", "PATCH", kMutating,
     R"({"metadata": {"annotations": {"cert-manager.io/inject-ca-from": "default/mine"}}})",
     "labels and annotations"},
    {"label a configuration", "PATCH", kValidating,
     R"({"metadata": {"labels": {"app.kubernetes.io/managed-by": "mine"}}})",
     "labels and annotations"},
    {"hold a configuration by a finalizer", "PATCH", kMutating,
     R"({"metadata": {"finalizers": ["example.com/mine"]}})", "finalizers and owners"},
    {"have a configuration collected", "PATCH", kMutating,
     R"({"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "Namespace", "name": "x",)"
     R"( "uid": "0"}]}})",
     "finalizers and owners"},
    {"make another Secret", "POST", kSecrets,
     R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "mine"},)"
     R"( "type": "kubernetes.io/tls", "data": {"tls.crt": "", "tls.key": ""}})",
     "Secrets berth-webhook-ca and berth-webhook-tls only"},
    {"have a token made for it", "POST", kSecrets,
     R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "berth-webhook-tls",)"
     R"( "annotations": {"kubernetes.io/service-account.name": "berth"}},)"
     R"( "type": "kubernetes.io/service-account-token"})",
     "of type kubernetes.io/tls only"},
    {"make a Secret that can't be deleted", "POST", kSecrets,
     R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "berth-webhook-tls",)"
     R"( "finalizers": ["example.com/mine"]}, "type": "kubernetes.io/tls",)"
     R"( "data": {"tls.crt": "", "tls.key": ""}})",
     "finalizers and owners"},
    {"hold a Secret by a finalizer", "PATCH", kAuthority,
     R"({"metadata": {"finalizers": ["example.com/mine"]}})", "finalizers and owners"},
};

const Act kConfinedAdministrator[] = {
    {"make a webhook configuration", "POST",
     "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", kConfiguration,
     "neither makes nor deletes them"},
    {"delete a webhook configuration", "DELETE", kValidating, "", "neither makes nor deletes them"},
    {"change another's webhook", "PATCH",
     "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/others",
     R"({"metadata": {"annotations": {"a": "b"}}})", "configurations berth-webhook only"},
    {"change the bundle of another's webhook", "PATCH",
     "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/others",
     R"({"webhooks": [{"name": "others.example.com", "clientConfig": {"caBundle": ""}}]})",
     "configurations berth-webhook only"},
    {"delete the webhook's authority", "DELETE", kAuthority, "", "deletes none"},
    {"write a Secret elsewhere", "POST", "/api/v1/namespaces/kube-system/secrets",
     R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "mine"}})",
     "Secrets berth-webhook-ca and berth-webhook-tls only"},
};

const Act kGranted[] = {
    {"read what the API server is told", "GET", kMutating, ""},
    {"tell of its authority", "PATCH", kMutating,
     R"({"webhooks": [{"name": "pods.gpu.berth.dev", "clientConfig": {"caBundle": "Qg=="}},)"
     R"( {"name": "jobs.gpu.berth.dev", "clientConfig": {"caBundle": "Qg=="}}]})"},
    {"tell of its authority to those that validate", "PATCH", kValidating,
     R"({"webhooks": [{"name": "kinds.gpu.berth.dev", "clientConfig": {"caBundle": "Qg=="}}]})"},
    {"make the webhook's certificate", "POST", kSecrets,
     R"({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "berth-webhook-tls"},)"
     R"( "type": "kubernetes.io/tls", "data": {"tls.crt": "", "tls.key": ""}})"},
    {"read its authority", "GET", kAuthority, ""},
    {"renew its authority", "PATCH", kAuthority,
     R"({"metadata": {"annotations": {"gpu.berth.dev/trusted-since": "2026-01-01T00:00:00Z"}},)"
     R"( "data": {"previous.crt": ""}})"},
};

}  // namespace

std::span<const Act> acts_beyond_the_keeper() { return kBeyond; }
std::span<const Act> confined_keepers_acts() { return kConfined; }
std::span<const Act> confined_administrator_keepers_acts() { return kConfinedAdministrator; }
std::span<const Act> granted_keepers_acts() { return kGranted; }

}  // namespace berth::test
