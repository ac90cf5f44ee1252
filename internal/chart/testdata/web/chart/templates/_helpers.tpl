{{- define "web.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- define "web.full" -}}{{ printf "%s-%s" .Release.Name (include "web.name" .) }}{{- end -}}
{{- define "web.labels" }}
app.kubernetes.io/name: {{ include "web.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- with .Chart.AppVersion }}
app.kubernetes.io/version: {{ . | quote }}
{{- end }}
{{- end }}
{{- define "shared" }}from the parent{{ end }}
{{- define "web.recursive" }}{{ . }}{{ if gt . 0 }} {{ include "web.recursive" (sub . 1 | int) }}{{ end }}{{ end }}
{{- define "web.template" }}{{ template "web.inner" dict "a" .a }}{{ end }}
{{- define "web.inner" }}inner {{ .a }} {{ .missing }}{{ end }}
