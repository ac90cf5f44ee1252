package chart

import (
	"cmp"
	"runtime"
	"slices"
	"strconv"

	helmchart "helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/berthdev/berth/internal/bundle/manifest"
)

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
}

// capabilities are what a template sees as .Capabilities.
type capabilities struct {
	KubeVersion kubeVersion
	APIVersions apiVersions
	HelmVersion helmVersion
}

type kubeVersion struct{ Version, Major, Minor string }

// String is for templates that print it.
func (v kubeVersion) String() string { return v.Version }

// GitVersion is for templates of former days.
func (v kubeVersion) GitVersion() string { return v.Version }

type apiVersions []string

// Has says whether there is a version of an API, or a kind of one.
func (v apiVersions) Has(name string) bool { return slices.Contains(v, name) }

type helmVersion struct{ Version, GitCommit, GitTreeState, GoVersion string }

// defined are the versions of APIs and their kinds that the definitions of crds/ add: Helm
// has them in the cluster before it renders a chart.
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

// forTemplates fills in what is not given.
func (c Capabilities) forTemplates() (*capabilities, error) {
	parsed, err := version.ParseGeneric(cmp.Or(c.Version, kubernetesVersion))
	if err != nil {
		return nil, err
	}
	known := apiVersions(c.APIVersions)
	if len(known) == 0 {
		for _, group := range scheme.Scheme.PrioritizedVersionsAllGroups() {
			known = append(known, group.String())
		}
		known = append(known, "apiextensions.k8s.io/v1")
	}
	return &capabilities{
		KubeVersion: kubeVersion{
			cmp.Or(c.Version, "v"+parsed.String()), strconv.FormatUint(uint64(parsed.Major()), 10),
			strconv.FormatUint(uint64(parsed.Minor()), 10),
		},
		APIVersions: known,
		HelmVersion: helmVersion{Version: helmLibrary, GoVersion: runtime.Version()},
	}, nil
}
