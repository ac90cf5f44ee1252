package chart

import (
	"bytes"
	"encoding/base64"
	"path"
	"strings"

	"github.com/gobwas/glob"
	helmchart "helm.sh/helm/v3/pkg/chart"
)

// files are those of a chart that are neither templates nor charts, as a template sees them.
type files map[string][]byte

func newFiles(from []*helmchart.File) files {
	f := files{}
	for _, file := range from {
		f[file.Name] = file.Data
	}
	return f
}

// GetBytes is the content of a file; empty if there is none of that name.
func (f files) GetBytes(name string) []byte {
	if content, ok := f[name]; ok {
		return content
	}
	return []byte{}
}

// Get is the content of a file as text.
func (f files) Get(name string) string { return string(f.GetBytes(name)) }

// Glob are the files whose names match a pattern.
func (f files) Glob(pattern string) files {
	matcher, err := glob.Compile(pattern, '/')
	if err != nil {
		matcher = glob.MustCompile("**")
	}
	some := files{}
	for name, content := range f {
		if matcher.Match(name) {
			some[name] = content
		}
	}
	return some
}

// AsConfig is the data of a ConfigMap.
func (f files) AsConfig() string {
	return f.data(func(content []byte) string { return string(content) })
}

// AsSecrets is the data of a Secret.
func (f files) AsSecrets() string { return f.data(base64.StdEncoding.EncodeToString) }

func (f files) data(encode func([]byte) string) string {
	if f == nil {
		return ""
	}
	data := map[string]string{}
	for name, content := range f {
		data[path.Base(name)] = encode(content)
	}
	return toYAML(data)
}

// Lines are those of a file.
func (f files) Lines(name string) []string {
	if len(f[name]) == 0 {
		return []string{}
	}
	return strings.Split(strings.TrimSuffix(string(f[name]), "\n"), "\n")
}

// makes are the bytes of memory that a method takes at most.
func (f files) makes(method string) (memory float64) {
	largest, lines := 0, 0
	for name, content := range f {
		memory += float64(len(name)) + ofText
		largest, lines = max(largest, len(content)), max(lines, bytes.Count(content, []byte("\n")))
		if method == "AsConfig" || method == "AsSecrets" {
			memory += ofConfig * float64(len(content))
		}
	}
	switch method {
	case "Get":
		return float64(largest)
	case "Lines":
		return float64(largest) + ofText*float64(lines+1)
	}
	return memory
}

// ofConfig are the bytes for each of a file that becomes a part of YAML, by way of JSON.
const ofConfig = 12
