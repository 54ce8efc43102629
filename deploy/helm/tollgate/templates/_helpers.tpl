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

{{/* On PostgreSQL there has to be one. */}}
{{- define "tollgate.secret" -}}
{{- if ne .Values.mode "embedded" }}{{ required "secretName: the Secret with TOLLGATE_STORAGE_URL and the others" .Values.secretName }}{{ else }}{{ .Values.secretName }}{{ end }}
{{- end }}
