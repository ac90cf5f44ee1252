package provision

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/lifecycle"
)

// atDrivers is where the API server has the CSI drivers.
const atDrivers = "/apis/storage.k8s.io/v1/csidrivers/"

// scratchDir has the blueprint of the model with a scratch storage.
func scratchDir(t *testing.T, storage string) string {
	t.Helper()
	dir := t.TempDir()
	text := strings.Replace(modelBlueprints, "    storages:\n", "    storages:\n      build: "+storage+"\n", 1)
	if text == modelBlueprints {
		t.Fatal("the blueprint of the model has no storages")
	}
	if err := os.WriteFile(filepath.Join(dir, "model.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Whatever makes pods of a workspace with a scratch storage looks for the driver before it changes anything, and says
// the same without it.
func TestNoDriverAnyMore(t *testing.T) {
	for name, test := range map[string]struct {
		storage, driver, install string
	}{
		"the usual driver": {
			"{type: scratch, path: /build}", "scratch.berth.dev", "`berth serve manifests volumes`",
		},
		"one that is named": {
			"{type: scratch, path: /build, driver: katbox.csi.paypal.com}", "katbox.csi.paypal.com",
			"`berth serve manifests volumes --driver-name katbox.csi.paypal.com`",
		},
	} {
		dir := scratchDir(t, test.storage)
		for _, user := range []string{"alice~model", modelInjected} {
			for command, before := range map[string][]string{
				"provision":                {"stop"},
				"provision it first":       nil,
				"start":                    {"stop"},
				"restart":                  {},
				"roll back":                {"update the environment"},
				"roll back a stopped one":  {"update the environment", "stop"},
				"restart what is stopped":  {"stop"},
				"update the environment":   {},
				"start by its ID":          {"stop"},
				"preview of an update":     {},
				"preview of a first start": nil,
			} {
				if user == modelInjected && strings.HasPrefix(command, "roll back") {
					continue // a workload has no former revision of a workspace
				}
				t.Run(name+", "+user+", "+command, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						withoutDriverFor(t, dir, user, command, before, test.driver, test.install)
					})
				})
			}
		}
	}
}

// withoutDriverFor runs commands on a cluster that has the driver, and one more when it is gone. Without commands
// before there is no workspace.
func withoutDriverFor(t *testing.T, dir, user, command string, before []string, driver, install string) {
	t.Helper()
	m := pause{user: user, blueprints: dir, a: "provision", injected: user == modelInjected}.prepare(t)
	m.objects[atDrivers+driver] = &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": driver},
	}}
	do := func(what string) error {
		p := newProcess(m)
		p.configure = func(pr *Provisioner) { pr.States = lifecycle.Place{Client: pr.Client} }
		return <-p.start(t, what, user, dir)
	}
	if before != nil {
		before = append([]string{"provision"}, before...)
	}
	for _, what := range before {
		if err := do(what); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
	time.Sleep(time.Minute) // what the commands have left to do is done
	m.mu.Lock()
	delete(m.objects, atDrivers+driver)
	m.writes = nil
	m.mu.Unlock()
	for from, to := range map[string]string{
		"provision it first": "provision", "roll back a stopped one": "roll back", "restart what is stopped": "restart",
		"preview of a first start": "preview",
	} {
		if command == from {
			command = to
		}
	}
	err := do(command)
	if err == nil {
		t.Fatal("it goes on")
	}
	if f := fault.From(err); f.Code != fault.InvalidArgument ||
		f.Message != "storage build is of type scratch, and the cluster has no CSI driver "+driver ||
		!strings.Contains(f.Hint, install) || !strings.Contains(f.Hint, "in blueprint model") {
		t.Errorf("it ends with %+v", f)
	}
	if wrote := slices.DeleteFunc(m.writes, func(w string) bool {
		return strings.Contains(w, "selfsubject")
	}); len(wrote) > 0 {
		t.Errorf("it changed %q", wrote)
	}
}
