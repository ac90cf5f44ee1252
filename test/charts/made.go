package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// made makes charts of the kinds that take different times: a small one, one with many subcharts, one with many files,
// one with many objects, and one whose templates call tpl.
func made(dir string) (charts []string, err error) {
	for name, more := range map[string]map[string]string{
		"small": nil, "subcharts": manySubcharts(), "files": manyFiles(),
		"objects": {"templates/all.yaml": manyObjects}, "tpl": {"templates/all.yaml": manyTpl},
	} {
		for file, text := range more {
			err = cmp.Or(err, writeFile(filepath.Join(dir, name, file), text))
		}
		for file, text := range plain(name) {
			err = cmp.Or(err, writeFile(filepath.Join(dir, name, file), text))
		}
		charts = append(charts, filepath.Join(dir, name))
	}
	slices.Sort(charts)
	return charts, err
}

func writeFile(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(text), 0o600)
}

// plain are the files of a small chart.
func plain(name string) map[string]string {
	return map[string]string{
		"Chart.yaml":                "apiVersion: v2\nname: " + name + "\nversion: 1.0.0\n",
		"values.yaml":               "labels: {app: web, tier: front}\nreplicas: 2\nimage: {repository: x, tag: v1}\n",
		"templates/_helpers.tpl":    helpers,
		"templates/deployment.yaml": workload,
	}
}

func manySubcharts() map[string]string {
	files := map[string]string{}
	for i := range 40 {
		name := fmt.Sprintf("sub%d", i)
		for file, text := range plain(name) {
			files["charts/"+name+"/"+file] = text
		}
		for j := range 5 {
			files[fmt.Sprintf("charts/%s/templates/more-%d.yaml", name, j)] = workload
		}
	}
	return files
}

func manyFiles() map[string]string {
	files := map[string]string{"templates/files.yaml": filesTemplate}
	for i := range 500 {
		text := strings.Repeat("0123456789abcdef", 250)
		files[fmt.Sprintf("dashboards/board-%d.json", i)] = `{"text": "` + text + "\"}\n"
	}
	return files
}

const (
	helpers = `{{- define "name" }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end }}
{{- define "labels" }}{{ toYaml .Values.labels }}
app.kubernetes.io/name: {{ include "name" . }}
{{- end }}
`
	workload = `apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "name" . }}-{{ base .Template.Name | trimSuffix ".yaml" }}
  labels:
    {{- include "labels" . | nindent 4 }}
spec:
  replicas: {{ .Values.replicas }}
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels:
        {{- include "labels" . | nindent 8 }}
    spec:
      containers:
        - name: web
          image: "{{ .Values.image.repository }}:{{ .Values.image.tag }}"
`
	filesTemplate = `{{- range $path, $_ := .Files.Glob "dashboards/*.json" }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ base $path | trimSuffix ".json" }}
data:
  {{- ($.Files.Glob $path).AsConfig | nindent 2 }}
{{- end }}
`
	manyObjects = `{{- range $i := until 1000 }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  name: c-{{ $i }}
  labels:
    {{- include "labels" $ | nindent 4 }}
data:
  text: {{ repeat 50 "x" | quote }}
{{- end }}
`
	manyTpl = `apiVersion: v1
kind: ConfigMap
metadata: {name: tpl}
data:
{{- range $i := until 300 }}
  k{{ $i }}: {{ tpl "{{ include \"name\" . }}-{{ .Values.replicas }}" $ | quote }}
{{- end }}
`
)
