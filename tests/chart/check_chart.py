#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks helm/berth without a cluster: lint, golden renders, refusals, CRDs, RBAC, flags, documentation.

  check_chart.py CHECK [--berth PROGRAM]   one of the functions check_* below, as `lint` or `golden:CASE`
  check_chart.py --update                  writes every golden anew, and the chart's copies of crds/

A case is golden/CASE/values.yaml and golden/CASE/render.yaml. `default` holds the whole render but for the CRDs; of every other case only
the objects that differ from the default's are kept. Exits 77 where helm can't be had, unless CI=true."""
import argparse
import difflib
import os
import pathlib
import re
import shutil
import subprocess
import sys

import yaml

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CHART = ROOT / "helm" / "berth"
GOLDEN = HERE / "golden"

# value path, value, what the refusal must say
REFUSALS = [
    ("replicaz", "3", "'replicaz' not allowed"),
    ("image.tags", "v1", "'tags' not allowed"),
    ("nvidia.migConfigMap.names", "x", "'names' not allowed"),
    ("rollout.settled", "5s", "'settled' not allowed"),
    ("leaderElection.lease", "x", "'lease' not allowed"),
    ("metrics.serviceMonitor.label", "x", "'label' not allowed"),
    ("webhook.certificate", "x", "'certificate' not allowed"),
    ("webhook.certificates.secret", "x", "'secret' not allowed"),
    ("webhook.certificates.issuerRef.names", "x", "'names' not allowed"),
    ("webhook.clientAuthority.secret", "x", "'secret' not allowed"),
    ("webhook.clientAuthority.commonName", "x", "nobody is asked for a certificate"),
    ("webhook.serviceAccount.names", "x", "'names' not allowed"),
    ("webhook.certificates.serviceAccount.names", "x", "'names' not allowed"),
    ("webhook.certificates.serviceAccount.name", "berth", "neither the controller's account nor the webhook's"),
    ("webhook.certificates.serviceAccount.name", "berth-webhook", "neither the controller's account nor the webhook's"),
    ("policy.taints", "x", "'taints' not allowed"),
    ("policy.devicePluginConfigMap.names", "x", "'names' not allowed"),
    ("policy.proof.images", "x", "'images' not allowed"),
    ("policy.proof.image", "two words", "/policy/proof/image"),
    ("webhook.failurePolicy", "Maybe", "/webhook/failurePolicy"),
    ("webhook.timeoutSeconds", "31", "/webhook/timeoutSeconds"),
    ("webhook.maxRequests", "0", "/webhook/maxRequests"),
    ("webhook.replicas", "11", "/webhook/replicas"),
    ("webhook.certificates.mode", "none", "/webhook/certificates/mode"),
    ("webhook.excludedNamespaces[0]", "Team_A", "/webhook/excludedNamespaces/0"),
    ("policy.taintKeys[0]", "no key", "/policy/taintKeys/0"),
    ("rollout.settle", "5", "/rollout/settle"),
    ("rollout.verifyFor", "soon", "/rollout/verifyFor"),
    ("replicas", "11", "/replicas"),
    ("log.level", "loud", "/log/level"),
    ("kubeAPI.qps", "0", "/kubeAPI/qps"),
    ("kubeAPI.statusQps", "0", "/kubeAPI/statusQps"),
    ("image.digest", "sha256:12", "/image/digest"),
    ("nodeKeys[0]", "no key", "/nodeKeys/0"),
    ("nodeKeys[0]", "node-role.kubernetes.io/control-plane", "carries roles or topology"),
    ("policy.taintKeys[0]", "node-role.kubernetes.io/control-plane", "carries roles or topology"),
    ("policy.devicePluginConfigMap.name", "berth-mig-parted-config", "mig-manager reads that one"),
    ("webhook.port", "8081", "neither metrics.port nor health.port"),
    ("webhook.certificates.issuerRef.name", "any", "only cert-manager asks an issuer"),
    ("leaderElection.enabled", "false", "twice the nodes"),
    ("nvidia.namespace", "berth-system", "a namespace of its own"),
    ("metrics.port", "8081", "must not equal health.port"),
    ("metrics.authorization", "false", "name in networkPolicy.metricsFrom who may"),
    ("metrics.tlsSecret", "No_Name", "/metrics/tlsSecret"),
    ("metrics.prometheusRule.runbookURL", "two words", "/metrics/prometheusRule/runbookURL"),
    ("flowSchema.enable", "x", "'enable' not allowed"),
    ("leaderElection.claimNamespace", "Kube_System", "/leaderElection/claimNamespace"),
    ("page.tls", "x", "'tls' not allowed"),
    ("page.port", "0", "/page/port"),
    ("page.enabled", "true", "either page.tlsSecret or page.plainHTTP"),
]
# Verbs and resources that make their holder more than berth is.
FORBIDDEN_VERBS = {"*", "escalate", "bind", "impersonate", "deletecollection", "approve", "sign"}
FORBIDDEN_RULES = {("secrets", "list"), ("secrets", "watch"), ("secrets", "update"), ("secrets", "delete"), ("nodes/proxy", None), ("nodes/status", None), ("pods/exec", None), ("pods/attach", None),
                   ("pods/ephemeralcontainers", None), ("serviceaccounts/token", None), ("persistentvolumes", None), ("namespaces", "create"), ("namespaces", "update"), ("namespaces", "patch"),
                   ("namespaces", "delete"),
                   ("pods", "create"), ("pods", "update"), ("nodes", "delete"), ("nodes", "update"),
                   ("customresourcedefinitions", None), ("clusterroles", None), ("roles", None), ("clusterrolebindings", None),
                   ("rolebindings", None), ("validatingadmissionpolicies", None), ("miglayouts", "delete"), ("miglayouts", "update"),
                   ("gpuclusterpolicies", "create"), ("gpuclusterpolicies", "delete"), ("gpuclusterpolicies", "update"),
                   ("mutatingwebhookconfigurations", "create"), ("mutatingwebhookconfigurations", "delete"),
                   ("validatingwebhookconfigurations", "create"), ("validatingwebhookconfigurations", "delete")}
# What may be read or changed by name alone.
BY_NAME = {("secrets", "get"), ("secrets", "patch"), ("mutatingwebhookconfigurations", "patch"), ("validatingwebhookconfigurations", "patch")}
# Of the webhook, which only reads.
READING = {"get", "list", "watch"}
# What nobody but the keeper of the certificates may touch, and all that it may.
OF_THE_KEEPER = {"secrets", "mutatingwebhookconfigurations", "validatingwebhookconfigurations"}
# Flags that make no sense in a pod.
NOT_BY_VALUE = {"--kubeconfig", "--context", "--allow-insecure-tls", "--print-config"}
# A controller may keep the certificates, too; the chart has another account do it.
NOT_OF_THE_CONTROLLER = {"--webhook-certificates", "--webhook-certificates-check", "--webhook-authority", "--webhook-service",
                         "--webhook-configuration"}
# What the chart sets, and the program by itself does not.
BY_CHART = {"--log-format=json", "--node-label-keys=none", "--node-taint-keys=nvidia.com/gpu", "--metrics-authorization=true",
            "--cluster-claim-namespace=kube-system"}


def find_helm():
    run = subprocess.run([HERE / "build-helm"], stdout=subprocess.PIPE, text=True)
    if run.returncode == 0:
        return run.stdout.strip()
    print("NOT TESTED: no helm")
    sys.exit(1 if os.environ.get("CI") == "true" else 77)


def template(*args):
    """The render, or the error's text and None."""
    run = subprocess.run([find_helm(), "template", "berth", CHART, "--namespace", "berth-system", "--kube-version", "1.36.0", *args],
                         capture_output=True, text=True)
    return (run.stdout, None) if run.returncode == 0 else (None, run.stderr)


def render(*args):
    text, error = template(*args)
    if error:
        sys.exit(error)
    return text


def documents(text):
    """What helm renders, as text by kind and name, in its order."""
    found = {}
    for part in re.split(r"^---\n", text, flags=re.M):
        part = re.sub(r"\A(# Source: .*\n|\s*\n)+", "", part).rstrip() + "\n"
        value = yaml.safe_load(part)
        if value:
            namespace = value["metadata"].get("namespace", "")
            found[f"{value['kind']} {namespace}/{value['metadata']['name']}"] = part
    return found


def objects(*args):
    return [yaml.safe_load(text) for text in documents(render(*args)).values()]


def golden_text(case):
    default = documents(render("--values", GOLDEN / "default/values.yaml"))
    if case == "default":
        return "---\n".join(default.values())
    now = documents(render("--values", GOLDEN / case / "values.yaml"))
    gone = "".join(f"# without {name}\n" for name in default if name not in now)
    return gone + "---\n".join(text for name, text in now.items() if default.get(name) != text)


def check_golden(case):
    file = GOLDEN / case / "render.yaml"
    want, have = file.read_text(), golden_text(case)
    return list(difflib.unified_diff(want.splitlines(), have.splitlines(), str(file.relative_to(ROOT)), "as rendered now", lineterm="", n=2))


def check_lint():
    complaints = []
    for case in sorted(GOLDEN.iterdir()):
        run = subprocess.run([find_helm(), "lint", "--strict", CHART, "--values", case / "values.yaml", "--kube-version", "1.36.0"],
                             capture_output=True, text=True)
        if run.returncode != 0:
            complaints.append(f"with the values of {case.name}: {run.stdout}{run.stderr}")
    return complaints


def check_refusals():
    complaints = []
    for path, value, words in REFUSALS:
        # Texts as texts: --set would make a number of 5.
        flag = "--set-string" if path.startswith("rollout.") else "--set"
        _, error = template(flag, f"{path}={value}")
        if error is None:
            complaints.append(f"{path}={value} is rendered; expected a refusal with: {words}")
        elif words not in error:
            complaints.append(f"{path}={value} is refused without {words!r}:\n{error}")
    for values, words in (("page.plainHTTP=true,page.tlsSecret=x", "either page.tlsSecret or page.plainHTTP"),
                          ("page.plainHTTP=true,page.port=8080", "neither metrics.port nor health.port")):
        _, error = template("--set", f"page.enabled=true,{values}")
        if not error or words not in error:
            complaints.append(f"page.enabled=true,{values}: {error}")
    for version in ("v1beta1", "v1beta2"):
        _, error = template("--api-versions", f"kueue.x-k8s.io/{version}", "--set", "webhook.kueueLabel=true")
        if not error or "Kueue's kinds are served" not in error:
            complaints.append(f"webhook.kueueLabel=true where Kueue's {version} is served: {error}")
    _, error = template("--kube-version", "1.28.4", "--set", "webhook.enabled=false,admissionPolicies.enabled=false,flowSchema.enabled=true")
    if not error or "Kubernetes 1.29" not in error:
        complaints.append(f"FlowSchemas on Kubernetes 1.28: {error}")
    for other in ("webhook.enabled=false", "admissionPolicies.enabled=false"):
        _, error = template("--kube-version", "1.29.4", "--set", other)
        if not error or "Kubernetes 1.30" not in error:
            complaints.append(f"Kubernetes 1.29 with {other} alone: {error}")
    return complaints


def check_dry_run():
    """dryRun alone is enough: nothing that writes is left, and what helm says then is so."""
    complaints = [f"dryRun leaves {o['kind']} {o['metadata']['name']}" for o in objects("--set", "dryRun=true")
                  if o["kind"].endswith("WebhookConfiguration") or o["kind"] == "Deployment" and o["metadata"]["name"] != "berth"]
    for dry, said, unsaid in (("true", "only logs what it would do", "berth changes nodes"), ("false", "berth changes nodes", "would do")):
        run = subprocess.run([find_helm(), "install", "berth", CHART, "--namespace", "berth-system", "--dry-run=client", "--set", f"dryRun={dry}"],
                             capture_output=True, text=True)
        notes = run.stdout.partition("\nNOTES:\n")[2]
        if said not in notes or unsaid in notes:
            complaints.append(f"dryRun={dry}: the notes say, after {run.returncode} {run.stderr}:\n{notes}")
    return complaints


def check_crds():
    """The chart's CRDs are the repository's, to the byte and without a link, which every helm command would complain of; and are kept."""
    rendered = {o["metadata"]["name"]: o for o in objects() if o["kind"] == "CustomResourceDefinition"}
    wanted = {}
    for file in sorted((ROOT / "crds").glob("*.yaml")):
        crd = yaml.safe_load(file.read_text())
        wanted[crd["metadata"]["name"]] = crd
    complaints = []
    copies = CHART / "files/crds"
    texts = {folder: {file.name: file.read_bytes() for file in folder.glob("*.yaml")} for folder in (ROOT / "crds", copies)}
    if texts[ROOT / "crds"] != texts[copies]:
        complaints.append("helm/berth/files/crds is not what crds/ is: cp crds/*.yaml helm/berth/files/crds/")
    complaints += [f"{path.relative_to(ROOT)} is a symbolic link" for path in (copies, *CHART.rglob("*")) if path.is_symlink()]
    silent = subprocess.run([find_helm(), "template", "berth", CHART, "--namespace", "berth-system", "--kube-version", "1.36.0"],
                            capture_output=True, text=True)
    if silent.stderr:
        complaints.append(f"helm template says {silent.stderr}")
    for name, crd in rendered.items():
        if crd["metadata"].pop("annotations", {}) != {"helm.sh/resource-policy": "keep"}:
            complaints.append(f"{name} would go with the release")
    if rendered != wanted:
        complaints.append(f"the chart renders {sorted(rendered)}, crds/ holds {sorted(wanted)}, or one of them differs")
    return complaints


def check_rbac():
    complaints = []
    roles = [o for o in objects() if o["kind"] in ("ClusterRole", "Role") and not o["metadata"]["name"].endswith(("-edit", "-view"))]
    readers = [role["rules"] for role in roles if role["metadata"]["name"] == "berth-metrics-reader"]
    roles = [role for role in roles if role["metadata"]["name"] != "berth-metrics-reader"]
    if readers != [[{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]]:
        complaints.append(f"Prometheus may do more or less than read metrics: {readers}")
    for role in roles:
        for rule in role["rules"]:
            where = f"{role['kind']} {role['metadata'].get('namespace', '')}/{role['metadata']['name']}: {rule}"
            if "*" in rule["apiGroups"] + rule["resources"] + rule.get("resourceNames", []) or rule.get("nonResourceURLs"):
                complaints.append(f"wildcard in {where}")
            if FORBIDDEN_VERBS & set(rule["verbs"]):
                complaints.append(f"forbidden verb in {where}")
            for resource in rule["resources"]:
                if (resource, None) in FORBIDDEN_RULES or any((resource, verb) in FORBIDDEN_RULES for verb in rule["verbs"]):
                    complaints.append(f"forbidden right in {where}")
                if any((resource, verb) in BY_NAME for verb in rule["verbs"]) and "resourceNames" not in rule:
                    complaints.append(f"no name in {where}")
            if role["kind"] == "Role" and "patch" in rule["verbs"] and rule["resources"] != ["events"] and "resourceNames" not in rule:
                complaints.append(f"patches without a name in {where}")
            if role["metadata"]["name"] == "berth-webhook" and set(rule["verbs"]) - READING:
                complaints.append(f"the webhook writes by {where}")
            if (role["metadata"]["name"] == "berth-certificates") != bool(OF_THE_KEEPER & set(rule["resources"])):
                complaints.append(f"what is the keeper's alone is mixed with other rights in {where}")
            # Policies hold the one to its gate, and whoever has not the other from it.
            if {"pods", "jobs"} & set(rule["resources"]) and "patch" in rule["verbs"] and role["metadata"]["name"] not in ("berth", "berth-release"):
                complaints.append(f"lets go what queues hold by {where}")
            if role["metadata"]["name"].endswith(("-why", "-snapshot")) and set(rule["verbs"]) - {"get", "list"}:
                complaints.append(f"whoever explains does more than look by {where}")
    if len(roles) != 14:
        complaints.append(f"{len(roles)} roles for controller, webhook, keeper, those who look and those who release, 14 expected")
    return complaints


def check_page():
    """Off, the page leaves no trace but its flags; on, it brings a port, its Service and the right to ask who looks, and no other."""
    def of(*values):
        found = {f"{o['kind']} {o['metadata']['name']}": o for o in objects(*values)}
        pod = found["Deployment berth"]["spec"]["template"]["spec"]
        rules = found["ClusterRole berth"]["rules"]
        return {"services": {name for name in found if name.startswith("Service ")},
                "ports": {port["name"] for port in pod["containers"][0]["ports"]},
                "volumes": {volume["name"] for volume in pod["volumes"]},
                "rights": {(resource, verb) for rule in rules for resource in rule["resources"] for verb in rule["verbs"]},
                "ingress": [port["port"] for rule in found["NetworkPolicy berth"]["spec"]["ingress"] for port in rule["ports"]],
                "args": {arg for arg in pod["containers"][0]["args"] if arg.startswith("--page")}}

    off = of()
    plain = of("--set", "page.enabled=true,page.plainHTTP=true")
    by_tls = of("--set", "page.enabled=true,page.tlsSecret=people")
    reviews = {("tokenreviews", "create"), ("subjectaccessreviews", "create")}
    wanted = [("off: args", off["args"], {"--page-bind-address=0", "--page-plain-http=false"}),
              ("plain: args", plain["args"], {"--page-bind-address=:8443", "--page-plain-http=true"}),
              ("tls: args", by_tls["args"], {"--page-bind-address=:8443", "--page-plain-http=false",
                                             "--page-cert-dir=/etc/berth/page-certificate"}),
              ("tls: volumes", by_tls["volumes"] - off["volumes"], {"page-certificate"}),
              ("plain: volumes", plain["volumes"], off["volumes"])]
    for name, on in (("plain", plain), ("tls", by_tls)):
        wanted += [(f"{name}: services", on["services"] - off["services"], {"Service berth-page"}),
                   (f"{name}: ports", on["ports"] - off["ports"], {"page"}),
                   (f"{name}: rights", on["rights"] - off["rights"], reviews),
                   (f"{name}: ingress", on["ingress"], [*off["ingress"], 8443])]
    return [f"{what} are {have}, {want} expected" for what, have, want in wanted if have != want]


def check_flags(berth):
    """Every flag of controller, webhook and keeper is set by the chart, be it for other values than the default ones, to its default where the values
    are, and the program takes the line as it stands."""
    def lines(*values):
        return [o["spec"]["template"]["spec"]["containers"][0]["args"] for o in objects(*values) if o["kind"] == "Deployment"]

    complaints = []
    settable = {(args[0], arg.split("=")[0]) for args in lines("--values", GOLDEN / "existing/values.yaml") for arg in args[1:]}
    for args in lines():
        run = subprocess.run([berth, *args, "--print-config"], capture_output=True, text=True)
        if run.returncode != 0:
            complaints.append(f"berth refuses the chart's arguments: {run.stderr}")
            continue
        defaults = subprocess.run([berth, args[0], "--print-config"], capture_output=True, text=True).stdout
        given = {flag for program, flag in settable if program == args[0]} | {arg.split("=")[0] for arg in args[1:]}
        for line in defaults.splitlines():
            flag = line.split("=")[0]
            if flag not in given | NOT_BY_VALUE | (NOT_OF_THE_CONTROLLER if args[0] == "controller" else set()):
                complaints.append(f"{args[0]}: {flag} can't be set by a value")
        if args[0] == "controller" and NOT_OF_THE_CONTROLLER & {arg.split("=")[0] for arg in args}:
            complaints.append("the chart has the controller keep the certificates")
        for line in set(run.stdout.splitlines()) - set(defaults.splitlines()) - BY_CHART:
            complaints.append(f"{args[0]}: the chart's default is not the program's: {line}")
    return complaints


def check_reviews():
    """What the API server asks the webhook, by the configurations: nothing waits for it but what has opted in, and nothing of the cluster's
    own or of NVIDIA's ever does."""
    complaints = []
    for configuration in (o for o in objects() if o["kind"].endswith("WebhookConfiguration")):
        for webhook in configuration["webhooks"]:
            where = f"{configuration['kind']} {webhook['name']}"
            own = webhook["name"] == "kinds.gpu.berth.dev"
            wanted = {"sideEffects": "None", "timeoutSeconds": 3, "matchPolicy": "Equivalent", "admissionReviewVersions": ["v1"],
                      "failurePolicy": "Ignore" if own else "Fail"}
            if configuration["kind"].startswith("Mutating"):
                wanted["reinvocationPolicy"] = "IfNeeded"
            complaints += [f"{where}: {key} is {webhook.get(key)}" for key, value in wanted.items() if webhook.get(key) != value]
            if "caBundle" in webhook["clientConfig"]:
                complaints.append(f"{where}: an upgrade would take the caBundle away")
            if not webhook.get("matchConditions"):
                complaints.append(f"{where}: no condition")
            if own:
                continue
            selector = webhook["namespaceSelector"]
            if selector["matchLabels"] != {"gpu.berth.dev/managed": "true"}:
                complaints.append(f"{where}: asks for namespaces that have not opted in")
            excluded = set(selector["matchExpressions"][0]["values"])
            if not {"kube-system", "kube-node-lease", "berth-system", "gpu-operator"} <= excluded:
                complaints.append(f"{where}: excludes {sorted(excluded)} only")
    return complaints


def leaves(values, prefix=""):
    for key, value in values.items():
        path = f"{prefix}{key}"
        if isinstance(value, dict) and value and key not in ("resources", "issuerRef"):
            yield from leaves(value, f"{path}.")
        else:
            yield path, value


def broken_tables(path):
    """Lines of Markdown that begin as a table's row and stand in none: GitHub shows them with their pipes."""
    inside, fence, before = False, False, ""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        fence ^= line.startswith("```")
        row = line.startswith("|") and not fence
        if row and not inside and re.match(r"^\|[-| :]+\|$", line) and before.startswith("|"):
            inside = True
        elif row and not inside and before.startswith("|"):
            yield f"{path.relative_to(ROOT)}:{number}: a row outside of any table"
        elif not row:
            if before.startswith("|") and not inside and not fence:
                yield f"{path.relative_to(ROOT)}:{number - 1}: a row outside of any table"
            inside = False
        before = line if not fence else ""


def check_docs():
    """docs/helm.md's table of values has one row for each value and none for another, with the default where it is quoted; versions agree."""
    values = dict(leaves(yaml.safe_load((CHART / "values.yaml").read_text())))
    table = (ROOT / "docs/helm.md").read_text().split("## Values\n")[1].split("\n## ")[0]
    rows = dict(re.findall(r"^\| `([\w.]+)` \| ([^|]*?) ?\|", table, re.M))
    complaints = [f"docs/helm.md has no row for {path}" for path in sorted(values.keys() - rows.keys())]
    complaints += [f"docs/helm.md tells of {path}, which values.yaml has not" for path in sorted(rows.keys() - values.keys())]
    for path, shown in rows.items():
        if shown.startswith("`") and yaml.safe_load(shown.strip("`")) != values.get(path):
            complaints.append(f"docs/helm.md says {path} is {shown} by default, values.yaml {values.get(path)!r}")
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))):
        complaints += broken_tables(page)
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    version = re.search(r"^project\(berth VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]
    if chart["appVersion"] != version:
        complaints.append(f"Chart.yaml says appVersion {chart['appVersion']}, CMakeLists.txt {version}")
    return complaints


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("check", nargs="?")
    parser.add_argument("--berth")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    if options.update:
        shutil.rmtree(CHART / "files/crds", ignore_errors=True)
        shutil.copytree(ROOT / "crds", CHART / "files/crds")
        for case in sorted(GOLDEN.iterdir()):
            (case / "render.yaml").write_text(golden_text(case.name))
        return 0
    name, _, case = options.check.partition(":")
    if name == "flags":
        complaints = check_flags(options.berth)
    else:
        complaints = globals()[f"check_{name}"](*([case] if case else []))
    print("\n".join(complaints) if complaints else f"{options.check}: as it should be")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
