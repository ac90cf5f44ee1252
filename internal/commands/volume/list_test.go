package volume_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	v1 "github.com/berthdev/berth/api/v1"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/schematest"
	"github.com/berthdev/berth/internal/volume"
)

// fleet are two nodes, of which the second has a full disk.
func fleet() map[string]*driver {
	forged := kept("cccccccccccc", "eve\x1b[31m~dev\n", "../x", 2*time.Hour, 12*time.Hour, 1<<20)
	failing := kept("dddddddddddd", "", "", 20*time.Hour, 12*time.Hour, -1)
	failing.Failure, failing.Inodes = "a file system is mounted in it", -1
	return map[string]*driver{
		"n1": {Picture: volume.Picture{
			Node: "n1", Now: now(), Factor: 1, Free: 50 << 30, Total: 100 << 30, Headroom: 0.1,
			Used: 3, Volumes: []volume.Volume{
				kept("1f0c9a2b4d5e", "alice~dev", "build", 9*time.Hour, 12*time.Hour, 3<<30),
				kept("2222222222aa", "alice", "cache", time.Hour, 12*time.Hour, 5000),
			},
		}},
		"n2": {Picture: volume.Picture{
			Node: "n2", Now: now(), Factor: 0.5, Free: 5 << 30, Total: 100 << 30, Headroom: 0.1,
			Volumes: []volume.Volume{
				failing, forged, kept("2222222222bb", "bob~dev", "build", time.Hour, 6*time.Hour, 42<<20),
			},
		}},
	}
}

// What people see.
func TestListGolden(t *testing.T) {
	newWorld(t, fleet())
	for name, args := range map[string]string{
		"list": "", "wide": "-o wide", "of-alice": "--of alice",
		"node": "--node n1", "names": "-o name", "nobody": "--of carol",
	} {
		stdout, stderr := cmdtest.Must(t, 0, append([]string{"volume", "list"}, strings.Fields(args)...)...)
		goldentest.Check(t, name+".txt", stdout+stderr)
	}
}

// Which volumes are those of a workspace, and of a user; what is no user string is nobody's.
func TestListOf(t *testing.T) {
	newWorld(t, fleet())
	for of, want := range map[string][]string{
		"alice":             {id("1f0c9a2b4d5e"), id("2222222222aa")},
		"alice~dev":         {id("1f0c9a2b4d5e")},
		"ALICE~dev":         {id("1f0c9a2b4d5e")},
		"bob-dev-1234567":   {id("2222222222bb")},
		"eve":               nil,
		"eve\x1b[31m~dev\n": {id("cccccccccccc")},
	} {
		stdout, _ := cmdtest.Must(t, 0, "volume", "list", "--of", of, "-o", "name")
		if diff := cmp.Diff(want, strings.Fields(stdout),
			cmp.Transformer("empty", func(all []string) []string { return append([]string{}, all...) })); diff != "" {
			t.Errorf("%q: %s", of, diff)
		}
	}
}

// The documents fit their schemas, and say what a full disk does.
func TestListDocuments(t *testing.T) {
	newWorld(t, fleet())
	stdout, _ := cmdtest.Must(t, 0, "volume", "list", "-o", "json")
	schematest.Validate(t, []byte(stdout))
	var list v1.VolumeList
	if err := json.Unmarshal([]byte(stdout), &list); err != nil {
		t.Fatal(err)
	}
	last := list.Items[len(list.Items)-1]
	if want := now().Add(2 * time.Hour); !last.GoesAt.Equal(want) || last.LifespanSeconds != 6*3600 ||
		last.Node != "n2" {
		t.Errorf("%+v, want that it goes at %s", last, want)
	}
	lines, _ := cmdtest.Must(t, 0, "volume", "list", "-o", "jsonl")
	schematest.ValidateLines(t, []byte(lines))
}

// A node that does not answer is a warning, and says why; if none does, that is the error.
func TestNodesThatDoNotAnswer(t *testing.T) {
	drivers := fleet()
	drivers["n3"] = nil
	w := newWorld(t, drivers)
	stdout, stderr := cmdtest.Must(t, 0, "volume", "list", "-o", "json")
	schematest.Validate(t, []byte(stdout))
	var list v1.VolumeList
	if err := json.Unmarshal([]byte(stdout), &list); err != nil {
		t.Fatal(err)
	}
	if n := list.Nodes[2]; n.Name != "n3" || n.Error == nil || n.Error.Code != "UNAVAILABLE" || len(list.Items) != 5 {
		t.Errorf("%+v", list.Nodes)
	}
	if !strings.Contains(stderr, "warning: node n3 is left out: the driver does not answer on "+
		w.dirs["berth-volumes-n3"]) {
		t.Errorf("%s", stderr)
	}
	for args, c := range map[string]struct {
		status int
		says   string
	}{
		"list --node n3": {8, "the driver does not answer on"},
		"list --node n4": {
			7,
			"node n4 has no driver of scratch volumes in namespace berth-volumes",
		},
		"list --driver-namespace other":      {7, "no driver of scratch volumes runs in namespace other"},
		"purge --yes ffffff":                 {7, "volume ffffff not found; not asked: n3"},
		"purge --yes --node n1 ffffff":       {7, "volume ffffff not found (NOT_FOUND)"},
		"purge --yes --all-of alice":         {3, "warning: node n3 is left out"},
		"restore ffffff --to " + t.TempDir(): {7, "volume ffffff not found; not asked: n3"},
	} {
		status, _, stderr := cmdtest.Run(t, "", append([]string{"volume"}, strings.Fields(args)...)...)
		if status != c.status || !strings.Contains(stderr, c.says) {
			t.Errorf("%s: %d, %s", args, status, stderr)
		}
	}
}
