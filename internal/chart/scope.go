package chart

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gobwas/glob"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/berthdev/berth/internal/chart/budget"
	"github.com/berthdev/berth/internal/chart/chartutil"
	"github.com/berthdev/berth/internal/chart/manifest"
	"github.com/berthdev/berth/internal/fault"
)

// source is a template with what it sees.
type source struct {
	text  string
	base  string // the directory of templates
	scope map[string]any
}

// sources are the templates of a chart and of its subcharts, each of which sees its own
// values. Above is what its parent sees.
func sources(c *helmchart.Chart, above map[string]any, into map[string]source, b *budget.Budget) (map[string]any,
	error,
) {
	if err := b.Hold("chart "+c.Name(), ofScope+ofFile*float64(len(c.Files)+len(c.Templates))); err != nil {
		return nil, err
	}
	subcharts := map[string]any{}
	scope := map[string]any{
		"Chart": struct {
			helmchart.Metadata
			IsRoot bool
		}{*c.Metadata, c.IsRoot()},
		"Files":        newFiles(c.Files),
		"Release":      above["Release"],
		"Capabilities": above["Capabilities"],
		"Values":       chartutil.Values{},
		"Subcharts":    subcharts,
	}
	if c.IsRoot() {
		scope["Values"] = above["Values"]
	} else if own, err := chartutil.Values(above).Table("Values." + c.Name()); err == nil {
		scope["Values"] = own
	}
	for _, sub := range c.Dependencies() {
		below, err := sources(sub, scope, into, b)
		if err != nil {
			return nil, err
		}
		subcharts[sub.Name()] = below
	}
	for _, file := range c.Templates {
		if strings.EqualFold(c.Metadata.Type, "library") && !isPartial(file.Name) {
			continue
		}
		name := path.Join(c.ChartFullPath(), file.Name)
		into[name] = source{string(file.Data), path.Join(c.ChartFullPath(), "templates"), scope}
	}
	return scope, nil
}

// ofScope are the bytes of what the templates of a chart see, beside its values.
const ofScope = 4 << 10

// forTemplates is the release as a template sees it.
func (r Release) forTemplates() map[string]any {
	return map[string]any{
		"Name": r.Name, "Namespace": r.Namespace, "Service": "Helm",
		"Revision": max(r.Revision, 1), "IsUpgrade": r.Upgrade, "IsInstall": !r.Upgrade,
	}
}

// The versions of the libraries that berth is made with.
const (
	helmLibrary       = "v3.22.0"
	kubernetesVersion = "v1.37.0"
)

// Capabilities are what a cluster can do.
type Capabilities struct {
	// Version is that of Kubernetes: v1.31.2. Empty is the version whose API berth knows.
	Version string
	// APIVersions are the versions of APIs, apps/v1, and their kinds, apps/v1/Deployment.
	// Empty are those of Kubernetes.
	APIVersions []string
	// Additional are those that are there beside these.
	Additional []string
}

// ParseVersion is a version of Kubernetes as Helm has one that is typed: with a v, and without what a distribution
// adds, so that v1.34.2-gke.100 is v1.34.2. Empty stays empty.
func ParseVersion(text string) (string, error) {
	if text == "" {
		return "", nil
	}
	parsed, err := version.ParseGeneric(text)
	if err != nil {
		return "", fault.New(fault.InvalidArgument, "invalid version of Kubernetes %q: %w", text, err)
	}
	return "v" + parsed.String(), nil
}

// defined are the versions of APIs and their kinds that the definitions of crds/ add, once it is known which subcharts
// there are: Helm has them in the cluster before it renders a chart.
func defined(c *helmchart.Chart) (versions []string) {
	reader := &manifest.Reader{}
	for _, file := range c.CRDObjects() {
		reader.Read(file.Filename, file.File.Data) // what is wrong with it is said where it is taken
	}
	objects, _ := reader.Objects()
	for _, object := range objects {
		group, _, _ := unstructured.NestedString(object.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(object.Object, "spec", "names", "kind")
		all, _, _ := unstructured.NestedSlice(object.Object, "spec", "versions")
		for _, one := range all {
			fields, _ := one.(map[string]any)
			name, _ := fields["name"].(string)
			if served, _ := fields["served"].(bool); served && name != "" {
				versions = append(versions, group+"/"+name, group+"/"+name+"/"+kind)
			}
		}
	}
	return versions
}

// Newer says whether the cluster is newer than the API that berth knows.
func (c Capabilities) Newer() bool {
	is, err := version.ParseGeneric(cmp.Or(c.Version, kubernetesVersion))
	return err != nil || version.MustParseGeneric(kubernetesVersion).
		LessThan(version.MajorMinor(is.Major(), is.Minor()))
}

// forTemplates fills in what is not given.
func (c Capabilities) forTemplates() (*chartutil.Capabilities, error) {
	parsed, err := version.ParseGeneric(cmp.Or(c.Version, kubernetesVersion))
	if err != nil {
		return nil, err
	}
	known := slices.Clone(chartutil.VersionSet(c.APIVersions))
	if len(known) == 0 {
		for _, group := range scheme.Scheme.PrioritizedVersionsAllGroups() {
			known = append(known, group.String())
		}
		known = append(known, "apiextensions.k8s.io/v1")
	}
	known = append(known, c.Additional...)
	return &chartutil.Capabilities{
		KubeVersion: chartutil.KubeVersion{
			Version: cmp.Or(c.Version, "v"+parsed.String()),
			Major:   strconv.FormatUint(uint64(parsed.Major()), 10),
			Minor:   strconv.FormatUint(uint64(parsed.Minor()), 10),
		},
		APIVersions: known,
		HelmVersion: chartutil.HelmVersion{Version: helmLibrary, GoVersion: runtime.Version()},
	}, nil
}

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
