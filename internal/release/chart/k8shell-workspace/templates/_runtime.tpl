{{- /* What the main container runs, and who says that it is ready. */ -}}
{{- define "workspace.runtime" -}}
{{- if .Values.agent }}
# It listens before the init scripts have run, and nothing signals their end: there is nothing to probe.
command: ["/usr/local/bin/k8shelld"]
{{- else }}
command: ["/bin/sh", "/k8shell/runtime/start.sh"]
# The probe asks the runtime and waits for its answer, so that an init script
# that takes its time is no failure. The first one can come too early for the
# kubelet itself to know that the container runs, and then a whole period
# passes: it is short for that.
readinessProbe:
  exec:
    command: ["/bin/sh", "/k8shell/runtime/ready.sh", {{ .Values.runtime.probeSeconds | quote }}]
  timeoutSeconds: {{ add .Values.runtime.probeSeconds 5 }}
  periodSeconds: 3
  failureThreshold: 3
{{- end }}
{{- end }}

{{- define "workspace.initContainers" -}}
{{- $owned := list }}
{{- range .Values.storages }}{{- if .owner }}{{- $owned = append $owned . }}{{- end }}{{- end }}
{{- $apart := and .Values.repository .Values.repository.apart }}
{{- if or .Values.agent $owned $apart }}
initContainers:
  {{- with .Values.agent }}
  # The agent's image has a script that installs it. What is owned is given to its users here, in a place where it
  # hides nothing of the image, whatever paths it has in the workspace.
  - name: init-base
    image: {{ .image | quote }}
    imagePullPolicy: {{ .imagePullPolicy }}
    command:
      - /bin/sh
      - -c
      - >-
        /k8shell/dist/scripts/init-base || exit;
        while [ $# -gt 0 ]; do chown "$1" "$2" || exit; shift 2; done
      - init-base
    {{- if $owned }}
    args:
      {{- range $owned }}
      - {{ .owner | quote }}
      - /k8shell/storage/{{ .name }}
      {{- end }}
    {{- end }}
    {{- with include "workspace.securityContext" .asRoot }}{{ nindent 4 (trim .) }}{{ end }}
    resources: {{- toYaml .resources | nindent 6 }}
    volumeMounts:
      - name: bin-volume
        mountPath: /usr/local/bin
      {{- range $owned }}
      - name: {{ include "workspace.storageVolume" . }}
        mountPath: /k8shell/storage/{{ .name }}
      {{- end }}
  {{- end }}
  {{- if and $owned (not .Values.agent) }}
  # fsGroup could give a storage to a group, but to no user, to one group a pod
  # only, and not on every kind of volume. So root does it, with the one
  # capability that it takes, and for the directory itself: what is in it
  # belongs to whoever wrote it. It runs the platform's image, with the storages
  # where they hide nothing of it, whatever paths they have in the workspace.
  - name: init-storage
    image: {{ $.Values.helper.image | quote }}
    imagePullPolicy: IfNotPresent
    command: ["/bin/sh", "-ec", "while [ $# -gt 0 ]; do chown \"$1\" \"$2\"; shift 2; done", "init-storage"]
    args:
      {{- range $owned }}
      - {{ .owner | quote }}
      - /k8shell/storage/{{ .name }}
      {{- end }}
    {{- with include "workspace.securityContext" $.Values.helper.asRoot }}{{ nindent 4 (trim .) }}{{ end }}
    {{- with include "workspace.resources" $.Values.resources }}{{ nindent 4 (trim .) }}{{ end }}
    volumeMounts:
      {{- range $owned }}
      - name: {{ include "workspace.storageVolume" . }}
        mountPath: /k8shell/storage/{{ .name }}
      {{- end }}
  {{- end }}
  {{- if $apart }}{{ include "workspace.initRepository" . | nindent 2 }}{{ end }}
{{- end }}
{{- end }}

{{- define "workspace.initRepository" -}}
# It alone has the credentials, and runs nothing of the repository's. It may look
# into the home directory, whether the repository is there already, and does not
# write to it: who else does could reach the credentials through git.
- name: init-repository
  image: {{ .Values.helper.image | quote }}
  imagePullPolicy: IfNotPresent
  command: ["/bin/sh", "/k8shell/runtime/init-repository.sh"]
  args:
    - {{ if .Values.agent }}__init_00_{{ end }}{{ include "workspace.repositoryFlag" . }}
    - {{ printf "/k8shell/home%s" .Values.home.path | quote }}
  {{- with include "workspace.env" .Values.helper }}{{ nindent 2 (trim .) }}{{ end }}
  {{- with include "workspace.securityContext" .Values.helper.asUser }}{{ nindent 2 (trim .) }}{{ end }}
  {{- with include "workspace.resources" .Values.resources }}{{ nindent 2 (trim .) }}{{ end }}
  volumeMounts:
    - name: runtime
      mountPath: /k8shell/runtime
      readOnly: true
    - name: repository
      mountPath: /k8shell/repository
    {{- if .Values.gitSecret }}
    - name: git
      mountPath: /k8shell/git
      readOnly: true
    {{- end }}
    {{- range .Values.storages }}
    {{- if eq .name $.Values.home.storage }}
    - name: {{ include "workspace.storageVolume" . }}
      mountPath: {{ printf "/k8shell/home%s" .path | quote }}
      readOnly: true
    {{- end }}
    {{- end }}
{{- end }}

{{- define "workspace.podman" -}}
{{- with .Values.podman }}
- name: k8shell-podman
  image: {{ .image | quote }}
  imagePullPolicy: {{ .imagePullPolicy }}
  # Whoever is in the workspace may use it, not only root.
  command: ["/bin/sh", "-c", "umask 0; exec podman system service --time=0 unix://{{ include "workspace.podmanDir" $ }}/podman.sock"]
  # A startup probe costs the node nothing after its first yes. It never gives up,
  # as the kubelet would end the container.
  startupProbe:
    exec:
      command: ["test", "-S", "{{ include "workspace.podmanDir" $ }}/podman.sock"]
    periodSeconds: 1
    failureThreshold: 100000000
  {{- with include "workspace.securityContext" .securityContext }}{{ nindent 2 (trim .) }}{{ end }}
  {{- with include "workspace.resources" .resources }}{{ nindent 2 (trim .) }}{{ end }}
  volumeMounts:
    - name: {{ include "workspace.podmanVolume" $ }}
      mountPath: {{ include "workspace.podmanDir" $ }}
    # Where it keeps images as root, and as the user that images of podman have.
    - name: podman-storage
      mountPath: /var/lib/containers
    - name: podman-storage
      mountPath: /home/podman/.local/share/containers
    {{- range .mounts }}
    - name: {{ .volume }}
      mountPath: {{ .path | quote }}
      {{- if .readonly }}
      readOnly: true
      {{- end }}
    {{- end }}
    {{- range $.Values.extFiles }}
    {{- if .sidecar }}
    - name: {{ include "workspace.extFilesVolume" $ }}
      mountPath: {{ .path | quote }}
      subPath: {{ .key | quote }}
      readOnly: true
    {{- end }}
    {{- end }}
{{- end }}
{{- end }}
