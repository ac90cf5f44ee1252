package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// program is one of the two that are measured.
type program struct {
	name  string
	args  []string // before the chart
	times []spent
}

// spent is what one run takes.
type spent struct{ wall, cpu time.Duration }

// measure runs both programs in turns on each chart, and prints the medians and how they compare.
func measure(ctx context.Context, o options, dirs []string, out io.Writer) error {
	home, err := os.MkdirTemp("", "charts-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home) //nolint:errcheck // what is left is in the directory for that
	charts, err := toMeasure(home, dirs)
	if err != nil {
		return err
	}
	helm, berth, err := programs(ctx, o, home)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "chart\thelm template\tbundle template\tratio\tprocessor: helm\tberth\tratio")
	for _, chart := range charts {
		both := []*program{
			{name: helm, args: []string{"template", "release-name"}},
			{name: berth, args: []string{"bundle", "template"}},
		}
		for round := range o.rounds + 1 {
			for _, p := range both {
				one, err := p.run(ctx, home, chart)
				if err != nil {
					return err
				}
				if round > 0 { // the first one fills the caches
					p.times = append(p.times, one)
				}
			}
			slices.Reverse(both)
		}
		slices.SortFunc(both, func(a, _ *program) int { return map[string]int{helm: -1, berth: 1}[a.name] })
		h, b := both[0].median(), both[1].median()
		fmt.Fprintf(table, "%s\t%s\t%s\t%.2f\t%s\t%s\t%.2f\n", filepath.Base(chart), rounded(h.wall), rounded(b.wall),
			float64(b.wall)/float64(h.wall), rounded(h.cpu), rounded(b.cpu), float64(b.cpu)/float64(h.cpu))
		if err := table.Flush(); err != nil {
			return err
		}
	}
	return nil
}

func rounded(d time.Duration) time.Duration { return d.Round(100 * time.Microsecond) }

// toMeasure are the charts in directories, or some that are made.
func toMeasure(into string, dirs []string) (charts []string, err error) {
	if len(dirs) == 0 {
		return made(into)
	}
	for _, dir := range dirs {
		found, err := chartsIn(dir)
		if err != nil {
			return nil, err
		}
		charts = append(charts, found...)
	}
	return charts, nil
}

// programs are helm, in the version of scripts/tools.versions, and berth, built alike.
func programs(ctx context.Context, o options, dir string) (helm, berth string, err error) {
	root, err := exec.CommandContext(ctx, "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		return "", "", fmt.Errorf("this runs in a checkout of berth: %w", err)
	}
	checkout := strings.TrimSpace(string(root))
	tool := exec.CommandContext(ctx, filepath.Join(checkout, "scripts", "tool"), "helm")
	tool.Stderr = os.Stderr
	path, err := tool.Output()
	if err != nil {
		return "", "", err
	}
	if o.berth != "" {
		berth, err = filepath.Abs(o.berth)
		return strings.TrimSpace(string(path)), berth, err
	}
	berth = filepath.Join(dir, "berth")
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", berth, "./cmd/berth")
	build.Dir, build.Stderr = checkout, os.Stderr
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	return strings.TrimSpace(string(path)), berth, build.Run()
}

// run renders a chart once.
func (p *program) run(ctx context.Context, home, chart string) (spent, error) {
	cmd := exec.CommandContext(ctx, p.name, append(slices.Clone(p.args), chart)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
	var said bytes.Buffer
	cmd.Stderr = &said
	begun := time.Now()
	if err := cmd.Run(); err != nil {
		return spent{}, fmt.Errorf("%s: %w\n%s", strings.Join(cmd.Args, " "), err, said.String())
	}
	return spent{time.Since(begun), cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()}, nil
}

// median is that of each column.
func (p *program) median() spent {
	var wall, cpu []time.Duration
	for _, one := range p.times {
		wall, cpu = append(wall, one.wall), append(cpu, one.cpu)
	}
	slices.Sort(wall)
	slices.Sort(cpu)
	return spent{wall[len(wall)/2], cpu[len(cpu)/2]}
}

// made makes charts of the kinds that take different times: a small one, one with many subcharts, one with many files,
// one with many objects, and one whose templates call tpl.
func made(dir string) (charts []string, err error) {
	for name, more := range map[string]map[string]string{
		"small": nil, "subcharts": manySubcharts(), "files": manyFiles(), "objects": {"templates/all.yaml": manyObjects},
		"tpl": {"templates/all.yaml": manyTpl},
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
		"values.yaml":               "labels: {app: web, tier: front}\nreplicas: 2\nimage: {repository: nginx, tag: v1}\n",
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
		files[fmt.Sprintf("dashboards/%d.json", i)] = "{\"text\": \"" + strings.Repeat("0123456789abcdef", 250) + "\"}\n"
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
