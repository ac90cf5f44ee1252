{{- define "workspace.mounts" -}}
{{- if or (not .Values.agent) .Values.repository }}
- name: runtime
  mountPath: /k8shell/runtime
  readOnly: true
{{- end }}
{{- if .Values.agent }}
{{- range list "k8shelld" "kbox" "sftp" }}
- name: bin-volume
  mountPath: /usr/local/bin/{{ . }}
  subPath: {{ . }}
  readOnly: true
{{- end }}
- name: config-volume
  mountPath: /etc/k8shell
  readOnly: true
- name: main-volume
  mountPath: /usr/local/k8shell/system
  readOnly: true
{{- if .Values.agent.pat }}
- name: pat-secret
  mountPath: /var/run/secrets/k8shell-pat
  readOnly: true
{{- end }}
{{- else }}
- name: state
  mountPath: /k8shell/state
{{- end }}
{{- if and (not .Values.agent) (or .Values.initScripts .Values.repository) }}
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
- name: {{ include "workspace.tlsVolume" . }}
  mountPath: {{ include "workspace.tlsDir" . }}
  readOnly: true
{{- end }}
{{- if .Values.podman }}
- name: {{ include "workspace.podmanVolume" . }}
  mountPath: {{ include "workspace.podmanDir" . }}
{{- end }}
{{- range .Values.extFiles }}
{{- if not .sidecar }}
- name: {{ include "workspace.extFilesVolume" $ }}
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
{{- if or (not .Values.agent) .Values.repository }}
- name: runtime
  configMap:
    name: {{ .Values.names.config }}
{{- end }}
{{- if .Values.agent }}
- name: bin-volume
  emptyDir: {}
- name: config-volume
  configMap:
    name: {{ .Values.names.agent }}
- name: main-volume
  configMap:
    name: {{ .Values.names.files }}
    defaultMode: 493 # 0755
{{- with .Values.agent.pat }}
# Not in this chart: k8shell makes it.
- name: pat-secret
  secret:
    secretName: {{ . }}
{{- end }}
{{- else }}
- name: state
  emptyDir: {}
{{- end }}
{{- if and (not .Values.agent) (or .Values.initScripts .Values.repository) }}
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
- name: {{ include "workspace.tlsVolume" $ }}
  secret:
    secretName: {{ .secretName }}
{{- end }}
{{- with .Values.podman }}
- name: {{ include "workspace.podmanVolume" $ }}
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
- name: {{ include "workspace.extFilesVolume" . }}
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
