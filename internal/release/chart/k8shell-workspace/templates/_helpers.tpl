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
  {{- with $.agent }}{{ with .pat }}
  - name: K8SHELL_PAT_TOKEN
    valueFrom:
      secretKeyRef:
        name: {{ . }}
        key: token
  {{- end }}{{ end }}
{{- end }}
{{- end }}

{{- /* The name of the init script that brings the repository: one that no script of
a blueprint can have, and one for each repository, as several workspaces may share
a home directory, and its flags. */ -}}
{{- define "workspace.repositoryFlag" -}}
k8shell.repository-{{ .Values.repository.url | sha256sum | trunc 7 }}
{{- end }}

{{- /* Where the podman sidecar and the workspace share its socket: an agent looks for it in one place. */ -}}
{{- define "workspace.podmanDir" -}}
{{ if .Values.agent }}/var/run/podman{{ else }}/k8shell/podman{{ end }}
{{- end }}

{{- define "workspace.podmanVolume" -}}
{{ if .Values.agent }}podman-sock{{ else }}podman{{ end }}
{{- end }}

{{- /* Where the workspace finds its certificate, and the volume that it is in. */ -}}
{{- define "workspace.tlsDir" -}}
{{ if .Values.agent }}/etc/tls/k8shelld{{ else }}/k8shell/tls{{ end }}
{{- end }}

{{- define "workspace.tlsVolume" -}}
{{ if .Values.agent }}{{ .Values.names.certificate }}{{ else }}tls{{ end }}
{{- end }}

{{- define "workspace.extFilesVolume" -}}
{{ if .Values.agent }}main-ext-files-volume{{ else }}ext-files{{ end }}
{{- end }}

{{- /* The init scripts by their files, which an agent runs if they are named for it. */ -}}
{{- define "workspace.scripts" -}}
{{- with .Values.repository }}
{{- $script := "clone.sh" }}
{{- if .apart }}{{ $script = "take.sh" }}{{ end }}
{{ if $.Values.agent }}__init_00_{{ else }}00-{{ end }}{{ include "workspace.repositoryFlag" $ }}: |
  {{- $.Files.Get (printf "runtime/%s" $script) | nindent 2 }}
{{- end }}
{{- range .Values.initScripts }}
{{ .file }}: {{ .script | quote }}
{{- end }}
{{- end }}
