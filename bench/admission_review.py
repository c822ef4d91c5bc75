"""An AdmissionReview of a GPU pod as an API server sends it, and what an answer makes of the pod."""


def make_review():
    """What an API server sends when the Job controller creates a worker of a training job: 7.6 KB."""
    labels = {"app.kubernetes.io/name": "llm-pretrain", "app.kubernetes.io/part-of": "training", "team": "team-a",
              "batch.kubernetes.io/job-name": "llm-pretrain-00017", "batch.kubernetes.io/job-completion-index": "3"}
    environment = [{"name": f"NCCL_SETTING_{k:02}", "value": f"mlx5_{k},value-{k}"} for k in range(18)]
    environment += [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": "spec.nodeName"}}}]
    probe = {"httpGet": {"path": "/healthz", "port": 8080, "scheme": "HTTP"}, "timeoutSeconds": 1, "periodSeconds": 10,
             "successThreshold": 1, "failureThreshold": 3}
    amounts = {"cpu": "22", "memory": "220Gi", "nvidia.com/gpu": "8"}
    mounts = [{"name": "config", "mountPath": "/etc/train"}, {"name": "data", "mountPath": "/data"},
              {"name": "kube-api-access", "readOnly": True, "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}]
    trainer = {"name": "trainer", "image": "registry.example.com/ml/llm-trainer:2026.09.1", "command": ["torchrun"],
               "args": ["--nnodes=16", "--nproc-per-node=8", "--rdzv-backend=c10d", "train.py", "--config=/etc/train/config.yaml"],
               "ports": [{"name": "metrics", "containerPort": 9090, "protocol": "TCP"}], "env": environment,
               "resources": {"limits": amounts, "requests": amounts}, "volumeMounts": mounts, "livenessProbe": probe,
               "readinessProbe": probe, "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
               "imagePullPolicy": "IfNotPresent"}
    sidecar = dict(trainer, name="exporter", image="registry.example.com/ml/exporter:1.4", resources={}, env=environment[:4],
                   command=["exporter"], args=["--listen=:9091"], ports=[{"containerPort": 9091, "protocol": "TCP"}])
    token = {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}
    root = {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}}
    volumes = [{"name": "config", "configMap": {"name": "llm-pretrain-00017", "defaultMode": 420}},
               {"name": "data", "persistentVolumeClaim": {"claimName": "datasets"}},
               {"name": "kube-api-access", "projected": {"sources": [token, root], "defaultMode": 420}}]
    by_name = {f'k:{{"name":"{variable["name"]}"}}': {".": {}, "f:name": {}, "f:value": {}} for variable in environment[:12]}
    of_container = {".": {}} | {f"f:{key}": {} for key in trainer} | {"f:env": {".": {}} | by_name}
    fields = {"f:metadata": {"f:generateName": {}, "f:labels": {".": {}} | {f"f:{key}": {} for key in labels}},
              "f:spec": {"f:containers": {'k:{"name":"trainer"}': of_container, 'k:{"name":"exporter"}': of_container},
                         "f:dnsPolicy": {}, "f:restartPolicy": {}, "f:schedulerName": {}, "f:volumes": {".": {}}}}
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "llm-pretrain-00017", "uid": "5f3c1a52-0000-4000-8000-000000000017",
             "controller": True, "blockOwnerDeletion": True}
    pod = {"kind": "Pod", "apiVersion": "v1",
           "metadata": {"generateName": "llm-pretrain-00017-3-", "namespace": "team-a", "labels": labels,
                        "annotations": {"prometheus.io/scrape": "true", "k8s.v1.cni.cncf.io/networks": "rdma-0,rdma-1,rdma-2,rdma-3"},
                        "ownerReferences": [owner],
                        "managedFields": [{"manager": "kube-controller-manager", "operation": "Update", "apiVersion": "v1",
                                           "time": "2026-09-01T08:00:00Z", "fieldsType": "FieldsV1", "fieldsV1": fields}]},
           "spec": {"volumes": volumes, "containers": [trainer, sidecar], "restartPolicy": "Never", "terminationGracePeriodSeconds": 60,
                    "dnsPolicy": "ClusterFirst", "serviceAccountName": "default", "serviceAccount": "default", "securityContext": {},
                    "schedulerName": "default-scheduler", "priority": 0, "enableServiceLinks": True,
                    "preemptionPolicy": "PreemptLowerPriority"},
           "status": {}}
    kind = {"group": "", "version": "v1", "kind": "Pod"}
    resource = {"group": "", "version": "v1", "resource": "pods"}
    user = {"username": "system:serviceaccount:kube-system:job-controller", "uid": "1", "groups": ["system:serviceaccounts"]}
    return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": {
        "uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "kind": kind, "resource": resource, "requestKind": kind,
        "requestResource": resource, "namespace": "team-a", "operation": "CREATE", "userInfo": user, "object": pod, "oldObject": None,
        "dryRun": False, "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}}}


def patched(document, operations):
    """The document after a JSON patch that only adds and replaces."""
    for operation in operations:
        *path, last = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
        at = document
        for part in path:
            at = at[int(part)] if isinstance(at, list) else at[part]
        if isinstance(at, list):
            at.insert(len(at) if last == "-" else int(last), operation["value"])
        else:
            at[last] = operation["value"]
    return document
