{{- define "workspace.securityContext" -}}
{{- with . }}
securityContext: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "workspace.resources" -}}
{{- if or .cpu .memory }}
resources:
  requests:
    {{- with .cpu }}
    cpu: {{ . | quote }}
    {{- end }}
    {{- with .memory }}
    memory: {{ . | quote }}
    {{- end }}
  {{- with .memory }}
  # Memory cannot be taken back from a process, so what is asked for is also
  # the limit; a limit on cpu would only slow down what nobody else needs.
  limits:
    memory: {{ . | quote }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "workspace.env" -}}
{{- with .env }}
env:
  {{- range $name, $value := . }}
  - name: {{ $name | quote }}
    value: {{ $value | quote }}
  {{- end }}
{{- end }}
{{- end }}

{{- /* The name of the init script that brings the repository: one that no script of
a blueprint can have, and one for each repository, as several workspaces may share
a home directory, and its flags. */ -}}
{{- define "workspace.repositoryFlag" -}}
k8shell.repository-{{ .Values.repository.url | sha256sum | trunc 7 }}
{{- end }}
