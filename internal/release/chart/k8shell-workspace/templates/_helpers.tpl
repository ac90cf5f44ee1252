{{- define "workspace.securityContext" -}}
{{- with .Values.securityContext }}
securityContext: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "workspace.resources" -}}
{{- if or .Values.resources.cpu .Values.resources.memory }}
resources:
  requests:
    {{- with .Values.resources.cpu }}
    cpu: {{ . | quote }}
    {{- end }}
    {{- with .Values.resources.memory }}
    memory: {{ . | quote }}
    {{- end }}
  {{- with .Values.resources.memory }}
  # Memory cannot be taken back from a process, so what is asked for is also
  # the limit; a limit on cpu would only slow down what nobody else needs.
  limits:
    memory: {{ . | quote }}
  {{- end }}
{{- end }}
{{- end }}

{{- define "workspace.mounts" -}}
- name: runtime
  mountPath: /k8shell/runtime
  readOnly: true
- name: state
  mountPath: /k8shell/state
{{- if .Values.initScripts }}
- name: init-scripts
  mountPath: /k8shell/init
  readOnly: true
{{- end }}
{{- range .Values.extFiles }}
- name: ext-files
  mountPath: {{ .path | quote }}
  subPath: {{ .key | quote }}
  readOnly: true
{{- end }}
{{- range .Values.storages }}
- name: storage-{{ .name }}
  mountPath: {{ .path | quote }}
  {{- if .readonly }}
  readOnly: true
  {{- end }}
{{- end }}
{{- end }}

{{- define "workspace.volumes" -}}
- name: runtime
  configMap:
    name: {{ .Values.names.config }}
- name: state
  emptyDir: {}
{{- if .Values.initScripts }}
- name: init-scripts
  configMap:
    name: {{ .Values.names.initScripts }}
{{- end }}
{{- if .Values.extFiles }}
- name: ext-files
  configMap:
    name: {{ .Values.names.extFiles }}
{{- end }}
{{- range .Values.storages }}
- name: storage-{{ .name }}
  {{- if eq .type "local" }}
  persistentVolumeClaim:
    claimName: {{ .claim }}
    {{- if .readonly }}
    readOnly: true
    {{- end }}
  {{- else }}
  {{- if or .sizeLimit (eq .type "memory") }}
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
{{- end }}
{{- end }}
