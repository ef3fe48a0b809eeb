{{- define "weir.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "weir.selector" -}}
app.kubernetes.io/name: weir
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "weir.labels" -}}
{{ include "weir.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "weir.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ with .Values.image.with }}-{{ . }}{{ end }}{{ with .Values.image.digest }}@{{ . }}{{ end }}
{{- end }}

{{- define "weir.secret" -}}
{{ .Values.secrets.existingSecret | default (include "weir.name" .) }}
{{- end }}

{{- define "weir.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "weir.name" .) }}{{ else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{- define "weir.databaseUrl" -}}
{{- if .Values.database.bundled.enabled -}}
postgres://weir:{{ required "database.bundled.password is empty: set it, or name secrets.existingSecret." .Values.database.bundled.password | urlquery }}@{{ include "weir.name" . }}-database:5432/lake
{{- else -}}
{{ required "There is no database: set database.url, or database.bundled.enabled, or name secrets.existingSecret with DB_URL in it." .Values.database.url }}
{{- end -}}
{{- end }}

{{- define "weir.podSecurity" -}}
runAsNonRoot: true
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "weir.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- /* The pod of the server, of workers and of jobs, around their containers. */ -}}
{{- define "weir.podBasics" -}}
serviceAccountName: {{ include "weir.serviceAccount" . }}
automountServiceAccountToken: {{ .Values.serviceAccount.automountToken }}
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext:
  {{- include "weir.podSecurity" . | nindent 2 }}
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
{{- end }}

{{- define "weir.placement" -}}
{{- with .nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* Settings of a pod: its own before those of all. The chart sets some itself, so that probes, volumes and services fit. */ -}}
{{- define "weir.settings" -}}
{{- $ofChart := dict "AUTH" "auth" "METRICS_PORT" "metrics.port" "RUN_TASKS_ON" "workers.enabled" "PORT" "service.port" "HOST" "service" "DATA_FOLDER" "persistence" "NODE_EXTRA_CA_CERTS" "certificateAuthorities" }}
{{- range $name, $value := mergeOverwrite (deepCopy .root.Values.settings) .own }}
{{- with get $ofChart $name }}
{{- fail (printf "%s is no setting for the values of the chart: set %s instead." $name .) }}
{{- end }}
- { name: {{ $name }}, value: {{ include "weir.text" $value | quote }} }
{{- end }}
{{- with .root.Values.certificateAuthorities }}
{{- if and .configMap .secret }}
{{- fail "certificateAuthorities names a config map and a secret: name one of them." }}
{{- end }}
{{- if or .configMap .secret }}
- { name: NODE_EXTRA_CA_CERTS, value: /etc/weir/ca/ca.crt }
- { name: GIT_SSL_CAPATH, value: /etc/weir/ca }
{{- end }}
{{- end }}
{{- end }}

{{- /* Helm reads 1000000 as a float, and would print 1e+06. */ -}}
{{- define "weir.text" -}}
{{- if and (kindIs "float64" .) (eq . (floor .)) }}{{ int64 . }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{- /* What every pod of Weir mounts beside its own. */ -}}
{{- define "weir.mounts" -}}
- { name: tmp, mountPath: /tmp }
{{- with .Values.certificateAuthorities }}
{{- if or .configMap .secret }}
# One file alone: in a folder, Kubernetes adds links that git would read, too.
- { name: certificate-authorities, mountPath: /etc/weir/ca/ca.crt, subPath: ca.crt, readOnly: true }
{{- end }}
{{- end }}
{{- with .Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "weir.volumes" -}}
- { name: tmp, emptyDir: {} }
{{- with .Values.certificateAuthorities }}
{{- if .configMap }}
- { name: certificate-authorities, configMap: { name: {{ .configMap }}, items: [{ key: {{ .key | quote }}, path: ca.crt }] } }
{{- else if .secret }}
- { name: certificate-authorities, secret: { secretName: {{ .secret }}, items: [{ key: {{ .key | quote }}, path: ca.crt }] } }
{{- end }}
{{- end }}
{{- with .Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- /* Pods of servers and workers, for Prometheus. */ -}}
{{- define "weir.metricsLabel" -}}
weir-metrics: 'true'
{{- end }}

{{- /* A change of a secret of the chart starts new pods. */ -}}
{{- define "weir.annotations" -}}
{{- $all := dict }}
{{- if and .Values.metrics.annotations (not .Values.metrics.serviceMonitor.enabled) }}
{{- $all = dict "prometheus.io/scrape" "true" "prometheus.io/port" (include "weir.text" .Values.metrics.port) "prometheus.io/path" "/metrics" }}
{{- end }}
{{- if not .Values.secrets.existingSecret }}
{{- $all = set $all "checksum/secret" (include (print $.Template.BasePath "/secret.yaml") . | sha256sum) }}
{{- end }}
{{- with $all }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- /* The pod of a command that ends: `component`, `args`, `secrets`, `resources`; `backups`: it reads or writes them. */ -}}
{{- define "weir.commandPod" -}}
{{- $root := .root }}
metadata:
  labels: {{- include "weir.labels" (dict "root" $root "component" .component) | nindent 4 }}
spec:
  restartPolicy: Never
  {{- include "weir.podBasics" $root | nindent 2 }}
  containers:
    - name: {{ .component }}
      image: {{ include "weir.image" $root }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      args: {{- toYaml .args | nindent 8 }}
      envFrom:
        - secretRef: { name: {{ include "weir.secret" $root }} }
        {{- range compact .secrets }}
        - secretRef: { name: {{ . }} }
        {{- end }}
      {{- $own := dict }}
      {{- with $root.Values.backup.s3 }}
      {{- if $.backups }}
      {{- $own = set $own "TMPDIR" "/data" }}
      {{- if .endpoint }}{{ $own = set $own "BACKUP_S3_ENDPOINT" .endpoint }}{{ end }}
      {{- if .region }}{{ $own = set $own "BACKUP_S3_REGION" .region }}{{ end }}
      {{- end }}
      {{- end }}
      {{- with include "weir.settings" (dict "root" $root "own" $own) }}
      env: {{- . | nindent 8 }}
      {{- end }}
      resources: {{- toYaml .resources | nindent 8 }}
      securityContext: {{- include "weir.containerSecurity" $root | nindent 8 }}
      volumeMounts:
        - { name: data, mountPath: /data }
        {{- if and .backups (include "weir.backupsOnVolume" $root) }}
        - { name: backups, mountPath: /backups }
        {{- end }}
        {{- include "weir.mounts" $root | nindent 8 }}
  volumes:
    {{- if .backups }}
    # A rehearsal restores into a database here.
    - { name: data, emptyDir: { sizeLimit: {{ $root.Values.backup.scratchSize }} } }
    {{- else }}
    - { name: data, emptyDir: {} }
    {{- end }}
    {{- if and .backups (include "weir.backupsOnVolume" $root) }}
    - { name: backups, persistentVolumeClaim: { claimName: {{ $root.Values.backup.volume.existingClaim | default (printf "%s-backups" (include "weir.name" $root)) }} } }
    {{- end }}
    {{- include "weir.volumes" $root | nindent 4 }}
{{- end }}

{{- /* Not empty if backups are files on a volume. */ -}}
{{- define "weir.backupsOnVolume" -}}
{{- if and .Values.backup.enabled (not .Values.backup.to) }}yes{{ end }}
{{- end }}

{{- /* A task may wait for its source for minutes; that is no reason to stop its worker. */ -}}
{{- define "weir.scalingBehavior" -}}
scaleDown:
  stabilizationWindowSeconds: 600
  policies: [{ type: Pods, value: 1, periodSeconds: 60 }]
{{- end }}
