{{/* SPDX-License-Identifier: Apache-2.0 */}}
{{/* What the pods of both Deployments have in common. */}}

{{- define "berth.podHead" -}}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: {{ .Values.terminationGracePeriodSeconds }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  fsGroup: 65532
  seccompProfile: {type: RuntimeDefault}
{{- end }}

{{- define "berth.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- define "berth.tokenVolume" -}}
# The token that the kubelet would mount itself, but valid for an hour and only in this pod.
- name: token
  projected:
    defaultMode: 0440
    sources:
    - serviceAccountToken: {path: token, expirationSeconds: 3600}
    - configMap:
        name: kube-root-ca.crt
        items: [{key: ca.crt, path: ca.crt}]
    - downwardAPI:
        items:
        - path: namespace
          fieldRef: {fieldPath: metadata.namespace}
{{- end }}

{{/* The certificate that /metrics shows, where it is not the process' own. */}}
{{- define "berth.metricsMount" -}}
{{- if .Values.metrics.tlsSecret -}}
- {name: metrics-certificate, mountPath: /etc/berth/metrics-certificate, readOnly: true}
{{- end }}
{{- end }}

{{- define "berth.metricsVolume" -}}
{{- if .Values.metrics.tlsSecret -}}
# Optional: berth starts without the Secret, and cannot be scraped until it is there.
- name: metrics-certificate
  secret:
    secretName: {{ .Values.metrics.tlsSecret }}
    optional: true
    defaultMode: 0440
    items:
    - {key: tls.crt, path: tls.crt}
    - {key: tls.key, path: tls.key}
{{- end }}
{{- end }}

{{/* Where they run; `selector` is the Deployment's own. */}}
{{- define "berth.placement" -}}
{{- $selector := .selector -}}
topologySpreadConstraints:
  {{- with .root.Values.topologySpreadConstraints }}
  {{- toYaml . | nindent 2 }}
  {{- else }}
  {{- range $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
  - maxSkew: 1
    topologyKey: {{ $key }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- $selector | nindent 8 }}
  {{- end }}
  {{- end }}
{{- with .root.Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
