{{- define "tollgate.name" -}}
{{- if contains "tollgate" .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-tollgate" .Release.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "tollgate.labels" -}}
app.kubernetes.io/name: tollgate
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "tollgate.image" -}}
{{- if .Values.image.digest }}{{ .Values.image.repository }}@{{ .Values.image.digest }}{{ else }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{/* The Secret of whatever has a core; on PostgreSQL there has to be one. */}}
{{- define "tollgate.secret" -}}
{{- if ne .Values.mode "embedded" }}{{ required "secretName: the Secret with TOLLGATE_STORAGE_URL and the others" .Values.secretName }}{{ else }}{{ .Values.secretName }}{{ end }}
{{- end }}

{{/* What every pod has; the context is a dict of the root, the app's label and whether it keeps files. */}}
{{- define "tollgate.pod" -}}
automountServiceAccountToken: false
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
# Longer than the pause below and the running streams' shutdown.grace_s together.
terminationGracePeriodSeconds: {{ add 15 (dig "shutdown" "grace_s" 30 .root.Values.config) }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  {{- if .keepsFiles }}
  fsGroup: 1000
  {{- end }}
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "tollgate.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: { app: {{ .app }} }
{{- end }}

{{/* What every container has; the context is a dict of the scheme of the admin port and how often a start is looked at. */}}
{{- define "tollgate.container" -}}
startupProbe:
  httpGet: { path: /readyz, port: admin{{ .scheme }} }
  periodSeconds: 2
  failureThreshold: {{ .starts }}
readinessProbe:
  httpGet: { path: /readyz, port: admin{{ .scheme }} }
  periodSeconds: 5
  failureThreshold: 1
livenessProbe:
  httpGet: { path: /livez, port: admin{{ .scheme }} }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
lifecycle:
  # The pod is out of the service's addresses from now on; nobody is sent to a closed door.
  preStop: { sleep: { seconds: 5 } }
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{- define "tollgate.claim" -}}
volumeClaimTemplates:
  - metadata:
      name: data
    spec:
      accessModes: [ReadWriteOnce]
      {{- with .Values.persistence.storageClass }}
      storageClassName: {{ . }}
      {{- end }}
      resources:
        requests: { storage: {{ .Values.persistence.size }} }
{{- end }}

{{/* The context is a dict of the root, the kind, the name and the autoscaling values. */}}
{{- define "tollgate.scaling" -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .name }}
  labels: {{ include "tollgate.labels" .root | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: { app: {{ .name }} }
---
# The work is CPU time in one process, so CPU is what tells that more are needed.
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ .name }}
  labels: {{ include "tollgate.labels" .root | nindent 4 }}
spec:
  scaleTargetRef: { apiVersion: apps/v1, kind: {{ .kind }}, name: {{ .name }} }
  minReplicas: {{ .autoscaling.minReplicas }}
  maxReplicas: {{ .autoscaling.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: { type: Utilization, averageUtilization: {{ .autoscaling.cpuPercent }} }
  behavior:
    # One that goes cuts streams that outlive its grace: go seldom.
    scaleDown:
      stabilizationWindowSeconds: 600
      policies:
        - { type: Pods, value: 1, periodSeconds: 300 }
{{- end }}
