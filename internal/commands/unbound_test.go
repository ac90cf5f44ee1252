package commands_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/kubetest"
)

// A claim whose storage class does not exist is made again when the blueprint names another
// one; a claim that has a volume stays.
func TestUpdateOfAClaimThatWasNeverBound(t *testing.T) {
	cmdtest.Offline(t)
	server := kubetest.Start(t, nil)
	cmdtest.Cluster(t, server.URL)
	directory := t.TempDir()
	t.Setenv("BERTH_BLUEPRINTS", directory)
	of := func(class string) {
		text := `blueprints: [{name: dev, template: base, storages: {data: {type: local, path: /data,
  claimSpec: {accessModes: [ReadWriteOnce], storageClassName: ` + class + `, resources: {requests: {storage: 1Gi}}}}}}]`
		if err := os.WriteFile(filepath.Join(directory, "blueprints.yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	is := func(phase string) {
		at := server.Names("persistentvolumeclaims")[0]
		claim := server.Get(at)
		_ = unstructured.SetNestedField(claim.Object, phase, "status", "phase")
		server.Put(at, claim)
	}
	class := func() string {
		claim := server.Get(server.Names("persistentvolumeclaims")[0])
		name, _, _ := unstructured.NestedString(claim.Object, "spec", "storageClassName")
		return name
	}
	of("nosuch")
	cmdtest.Must(t, 0, "provision", "alice~dev")
	is("Pending")
	of("standard")
	if stdout, stderr := cmdtest.Must(t, 0, "update", "alice~dev", "--dry-run=client"); !strings.Contains(stdout,
		"# delete persistentvolumeclaim/") || !strings.Contains(stdout, "# create persistentvolumeclaim/") {
		t.Errorf("%s\n%s", stdout, stderr)
	}
	_, stderr := cmdtest.Must(t, 0, "update", "alice~dev", "--yes")
	if class() != "standard" || !strings.Contains(stderr,
		"storage data is made again as its blueprint says: it never had a volume") ||
		strings.Contains(stderr, "StorageLost") {
		t.Errorf("%s\n%s", class(), stderr)
	}
	is("Bound")
	of("other")
	if _, stderr := cmdtest.Must(t, 3, "update", "alice~dev", "--yes"); !strings.Contains(stderr,
		"storage data cannot be changed") {
		t.Error(stderr)
	}

	is("Pending")
	cmdtest.Must(t, 0, "delete", "alice~dev", "--yes", "--keep-storage")
	cmdtest.Must(t, 0, "provision", "alice~dev")
	if class() != "other" {
		t.Errorf("provisioned with %s", class())
	}
}
