//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	v1 "github.com/berthdev/berth/api/v1"
)

// issuers is the chart in testdata/charts/issuers, with a group of its own.
type issuers struct {
	*world
	group, image string
	versions     int
}

func newIssuers(t *testing.T) *issuers {
	t.Helper()
	dir := os.Getenv(clusterVariable)
	if dir == "" {
		t.Skipf("%s is not set: the program of the webhook has to be in a registry", clusterVariable)
	}
	w := newBundles(t)
	c := &issuers{world: w, group: w.namespace + ".example.com", image: "registry.example.com/berth/berth:issuers-" +
		w.namespace}
	programs := filepath.Join(dir, "programs")
	if err := os.MkdirAll(programs, 0o755); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(programs, "issuers-"+w.namespace)
	build := exec.Command("go", "build", "-o", program, "./issuers")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Cleanup(func() { _ = os.Remove(program) })
	return c
}

// chart is the next version of the chart, with these values beside its own.
func (c *issuers) chart(values string) string {
	c.Helper()
	c.versions++
	dir := c.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/charts/issuers")); err != nil {
		c.Fatal(err)
	}
	c.write(dir, "Chart.yaml", fmt.Sprintf("{apiVersion: v2, name: issuers, version: 1.%d.0}", c.versions))
	c.write(dir, "values.yaml", fmt.Sprintf("group: %s\nimage: %s\n%s", c.group, c.image, values))
	return dir
}

// specs are those of the issuers.
func (c *issuers) specs() map[string]string {
	c.Helper()
	client, err := dynamic.NewForConfig(c.config)
	if err != nil {
		c.Fatal(err)
	}
	list, err := client.Resource(schema.GroupVersionResource{Group: c.group, Version: "v1", Resource: "issuers"}).
		Namespace(c.namespace).List(c.Context(), metav1.ListOptions{})
	if err != nil {
		c.Fatal(err)
	}
	specs := map[string]string{}
	for _, i := range list.Items {
		spec, _, _ := unstructured.NestedStringMap(i.Object, "spec")
		specs[i.GetName()] = strings.TrimSpace(spec["server"] + " " + spec["profile"] + " " + spec["contact"])
	}
	return specs
}

func (c *issuers) has(want map[string]string) {
	c.Helper()
	if got := c.specs(); fmt.Sprint(got) != fmt.Sprint(want) {
		c.Errorf("the issuers are %v, want %v", got, want)
	}
}

func (c *issuers) state() v1.BundleState {
	c.Helper()
	return decode[v1.BundleState](c.world, c.bundle(0, "status", "-o", "json"))
}

// mine are the objects that say that they belong to the instance.
func (c *issuers) mine() string {
	c.Helper()
	out, err := exec.Command(os.Getenv("BERTH_TEST_KUBECTL"), "get", "--kubeconfig", c.admin, "--namespace",
		c.namespace, "--output", "name",
		"--selector", "core.rukpak.io/owner-name="+c.instance(),
		"deployments,services,secrets,serviceaccounts,roles,rolebindings,clusterroles,clusterrolebindings,jobs,"+
			"validatingwebhookconfigurations,mutatingwebhookconfigurations,customresourcedefinitions").Output()
	if err != nil {
		c.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

const (
	firstIssuers = "crds: {enabled: true, second: false}\ncontroller: {replicas: 1}\n" +
		"issuers: {first: {server: https://first.example.com}}"
	secondIssuers = "crds: {enabled: true, second: true}\ncontroller: {replicas: 2}\n" +
		"issuers: {first: {server: https://first.example.com, contact: me, profile: short}, second: {server: " +
		"https://second.example.com}}"
)

// A chart of the kind of cert-manager's: definitions, custom resources of them, and a
// webhook that has to run before any of these can be made. Installed, upgraded, upgraded
// to what is refused and to what does not run, upgraded again, uninstalled.
func TestBundleOfAWebhook(t *testing.T) {
	c := newIssuers(t)
	chart := c.chart(firstIssuers)
	i := decode[v1.BundleInstallation](c.world, c.bundle(0, "install", chart, "-o", "json", "--timeout", "3m"))
	if i.Action != v1.BundleInstalled || !i.Healthy || i.Objects.Created != 13 {
		t.Errorf("%+v", i)
	}
	c.has(map[string]string{"first": "https://first.example.com classic"})
	again := decode[v1.BundleInstallation](c.world, c.bundle(0, "install", chart, "-o", "json", "--timeout", "3m"))
	if again.Action != v1.BundleUnchanged || again.Revision != 1 || again.Objects.Unchanged != 13 {
		t.Errorf("%+v", again)
	}
	if most := 10 + 12 + c.lists(12); again.Timing.Requests > most { // of which one for each kind is a watch
		t.Errorf("an upgrade that changes nothing takes %d requests, want at most %d", again.Timing.Requests, most)
	}

	c.bundle(0, "install", c.chart(secondIssuers), "--timeout", "3m")
	second := map[string]string{
		"first":  "https://first.example.com short me",
		"second": "https://second.example.com classic",
	}
	c.has(second)
	installed := c.state()
	if installed.State != v1.BundleHealthy || installed.Revision != 2 || len(installed.Bundles) != 1 {
		t.Errorf("%+v", installed)
	}

	refused := c.bundle(3, "install",
		c.chart(strings.ReplaceAll(secondIssuers, "second: {server: https:", "second: {server: ftp:")), "--timeout",
		"3m")
	c.contains(refused.stderr, "spec.server must be a URL of https, not ftp://second.example.com",
		"what was installed before is back")
	c.has(second)
	if s := c.state(); s.State != v1.BundleFailed || s.Installed != installed.Installed || len(s.Bundles) != 2 ||
		!strings.Contains(s.Message, "must be a URL of https") {
		t.Errorf("%+v", s)
	}

	broken := c.bundle(3, "install",
		c.chart(strings.ReplaceAll(secondIssuers, "replicas: 2",
			"replicas: 2, image: registry.example.com/berth/nothing:v1")), "--timeout", "3m")
	c.contains(broken.stderr, "deployment/issuers-controller", "ImageNotFound",
		"registry.example.com/berth/nothing:v1 not found")
	if s := c.state(); s.State != v1.BundleUnhealthy || s.Installed == installed.Installed || len(s.Bundles) != 3 ||
		!strings.Contains(s.Message, "issuers-controller") {
		t.Errorf("%+v", s)
	}

	good := strings.ReplaceAll(secondIssuers, "contact: me", "contact: you")
	c.bundle(0, "install", c.chart(good), "--timeout", "3m")
	second["first"] = "https://first.example.com short you"
	c.has(second)
	if s := c.state(); s.State != v1.BundleHealthy || len(s.Bundles) != 1 {
		t.Errorf("%+v", s)
	}

	definition := "issuers." + c.group
	theirs := c.write(c.TempDir(), "theirs.yaml",
		fmt.Sprintf("---\n{apiVersion: %s/v1, kind: Issuer, metadata: {name: theirs}, spec: {server: "+
			"\"https://theirs.example.com\"}}", c.group))
	c.kubectl("create", "--filename", theirs)
	c.contains(c.bundle(0, "uninstall").stderr, "kept", definition)
	if mine := c.mine(); mine != "" {
		t.Errorf("left: %s", mine)
	}
	c.has(map[string]string{"theirs": "https://theirs.example.com classic"})
	c.bundle(0, "install", c.chart(firstIssuers), "--timeout", "3m")
	c.contains(c.bundle(0, "uninstall", "--delete-crds", "--yes").stderr, "2 of "+definition)
	if mine := c.mine(); mine != "" {
		t.Errorf("left: %s", mine)
	}
	c.kubectl("delete", "lease", "issuers-controller") // which the controller has made
	c.uninstalled()
}
