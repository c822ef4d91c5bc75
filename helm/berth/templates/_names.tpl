{{/* SPDX-License-Identifier: Apache-2.0 */}}

{{- define "berth.name" -}}
{{ .Values.nameOverride | default .Chart.Name | trunc 48 | trimSuffix "-" }}
{{- end }}

{{/* "berth" for a release that is called so; RELEASE-berth for any other. Cluster-scoped objects carry it too. */}}
{{- define "berth.fullname" -}}
{{- $name := include "berth.name" . -}}
{{- if .Values.fullnameOverride -}}
{{ .Values.fullnameOverride | trunc 48 | trimSuffix "-" }}
{{- else if contains $name .Release.Name -}}
{{ .Release.Name | trunc 48 | trimSuffix "-" }}
{{- else -}}
{{ printf "%s-%s" .Release.Name $name | trunc 48 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* The page of runbooks, of this version. */}}
{{- define "berth.runbooks" -}}
{{ .Values.metrics.prometheusRule.runbookURL | default (printf "%s/blob/v%s/docs/runbooks.md" .Chart.Home .Chart.Version) }}
{{- end }}

{{/* What `berth history` reads: as many as controller/history/history_chunk.h says. */}}
{{- define "berth.historyConfigMaps" -}}
berth-history-0, berth-history-1, berth-history-2, berth-history-3, berth-history-4, berth-history-5, berth-history-6, berth-history-7
{{- end }}

{{- define "berth.serviceAccount" -}}
{{ .Values.serviceAccount.name | default (include "berth.fullname" .) }}
{{- end }}

{{/* As the API server and the audit log call it. */}}
{{- define "berth.username" -}}
{{ printf "system:serviceaccount:%s:%s" .Release.Namespace (include "berth.serviceAccount" .) }}
{{- end }}

{{/* Of the webhook's objects, its Service among them. */}}
{{- define "berth.webhookName" -}}
{{ include "berth.fullname" . }}-webhook
{{- end }}

{{/* Whether there is a webhook at all: with dryRun nothing of the cluster's is changed, and a webhook changes what it reviews. */}}
{{- define "berth.webhookEnabled" -}}
{{- if and .Values.webhook.enabled (not .Values.dryRun) }}true{{ end }}
{{- end }}

{{- define "berth.webhookServiceAccount" -}}
{{ .Values.webhook.serviceAccount.name | default (include "berth.webhookName" .) }}
{{- end }}

{{- define "berth.webhookSelector" -}}
app.kubernetes.io/name: {{ include "berth.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: webhook
{{- end }}

{{/* Of the objects of who keeps the webhook's certificates. */}}
{{- define "berth.certificatesName" -}}
{{ include "berth.fullname" . }}-certificates
{{- end }}

{{- define "berth.certificatesServiceAccount" -}}
{{ .Values.webhook.certificates.serviceAccount.name | default (include "berth.certificatesName" .) }}
{{- end }}

{{- define "berth.certificatesUsername" -}}
{{ printf "system:serviceaccount:%s:%s" .Release.Namespace (include "berth.certificatesServiceAccount" .) }}
{{- end }}

{{- define "berth.certificatesSelector" -}}
app.kubernetes.io/name: {{ include "berth.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: certificates
{{- end }}

{{/* Whether berth itself keeps the webhook's certificates. */}}
{{- define "berth.keepsCertificates" -}}
{{- if and (include "berth.webhookEnabled" .) (eq .Values.webhook.certificates.mode "selfManaged") }}true{{ end }}
{{- end }}

{{- define "berth.selector" -}}
app.kubernetes.io/name: {{ include "berth.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: controller
{{- end }}

{{- define "berth.labels" -}}
app.kubernetes.io/name: {{ include "berth.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: berth
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "berth.image" -}}
{{- if .Values.image.digest -}}
{{ printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else -}}
{{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) }}
{{- end }}
{{- end }}

{{/* Whether a Job proves nodes before they are put back into service. */}}
{{- define "berth.proves" -}}
{{- if and .Values.policy.enabled .Values.policy.proof.image (not .Values.dryRun) }}true{{ end }}
{{- end }}

{{/* Whether the leader asks for the cluster, too. */}}
{{- define "berth.claims" -}}
{{- if and .Values.leaderElection.enabled .Values.leaderElection.claimNamespace }}true{{ end }}
{{- end }}

{{/* Whether metrics need a token. */}}
{{- define "berth.metricsAuthorized" -}}
{{- if and .Values.metrics.enabled .Values.metrics.authorization }}true{{ end }}
{{- end }}

{{- define "berth.uninstallGuard" -}}
{{- if and .Values.admissionPolicies.enabled .Values.uninstallGuard.enabled }}true{{ end }}
{{- end }}
