{{- define "workspace.mounts" -}}
- name: runtime
  mountPath: /k8shell/runtime
  readOnly: true
{{- if .Values.agent }}
- name: agent
  mountPath: /k8shell/agent
{{- else }}
- name: state
  mountPath: /k8shell/state
{{- end }}
{{- if or .Values.initScripts .Values.repository }}
- name: init-scripts
  mountPath: /k8shell/init
  readOnly: true
{{- end }}
{{- with .Values.repository }}
{{- if .apart }}
- name: repository
  mountPath: /k8shell/repository
{{- end }}
{{- if .inWorkspace }}
# The user's configuration says so.
- name: git
  mountPath: /k8shell/git
  readOnly: true
{{- end }}
{{- end }}
{{- if .Values.certificate }}
- name: tls
  mountPath: /k8shell/tls
  readOnly: true
{{- end }}
{{- if .Values.podman }}
- name: podman
  mountPath: /k8shell/podman
{{- end }}
{{- range .Values.extFiles }}
{{- if not .sidecar }}
- name: ext-files
  mountPath: {{ .path | quote }}
  subPath: {{ .key | quote }}
  readOnly: true
{{- end }}
{{- end }}
{{- range .Values.storages }}
{{- if not .sidecar }}
- name: {{ include "workspace.storageVolume" . }}
  mountPath: {{ .path | quote }}
  {{- if .readonly }}
  readOnly: true
  {{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* A release that was installed before names no volume: then the storage's name fits. */ -}}
{{- define "workspace.storageVolume" -}}
{{ .volume | default (printf "storage-%s" .name) }}
{{- end }}

{{- define "workspace.volumes" -}}
- name: runtime
  configMap:
    name: {{ .Values.names.config }}
{{- if .Values.agent }}
- name: agent
  emptyDir: {}
{{- else }}
- name: state
  emptyDir: {}
{{- end }}
{{- if or .Values.initScripts .Values.repository }}
- name: init-scripts
  configMap:
    name: {{ .Values.names.initScripts }}
{{- end }}
{{- if and .Values.repository .Values.repository.apart }}
- name: repository
  emptyDir: {}
{{- end }}
{{- with .Values.gitSecret }}
# Not in this chart: berth makes it, so that it is in no record of Helm.
- name: git
  secret:
    secretName: {{ . }}
    optional: true
{{- end }}
{{- with .Values.certificate }}
- name: tls
  secret:
    secretName: {{ .secretName }}
{{- end }}
{{- with .Values.podman }}
- name: podman
  emptyDir: {}
- name: podman-storage
  {{- if .sizeLimit }}
  emptyDir:
    sizeLimit: {{ .sizeLimit | quote }}
  {{- else }}
  emptyDir: {}
  {{- end }}
{{- end }}
{{- if .Values.extFiles }}
- name: ext-files
  configMap:
    name: {{ .Values.names.extFiles }}
{{- end }}
{{- range .Values.storages }}
{{- include "workspace.storage" . }}
{{- end }}
{{- end }}

{{- define "workspace.storage" }}
- name: {{ include "workspace.storageVolume" . }}
  {{- if .claim }}
  persistentVolumeClaim:
    claimName: {{ .claim }}
    {{- if and .readonly (not .owner) }}
    readOnly: true
    {{- end }}
  {{- else if eq .type "scratch" }}
  csi:
    driver: {{ .driver }}
    {{- if and .readonly (not .owner) }}
    readOnly: true
    {{- end }}
    volumeAttributes: {{- toYaml .attributes | nindent 6 }}
  {{- else if or .sizeLimit (eq .type "memory") }}
  emptyDir:
    {{- if eq .type "memory" }}
    medium: Memory
    {{- end }}
    {{- with .sizeLimit }}
    sizeLimit: {{ . | quote }}
    {{- end }}
  {{- else }}
  emptyDir: {}
  {{- end }}
{{- end }}
