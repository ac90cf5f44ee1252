//go:build linux

package mounts

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// table is what /proc/self/mountinfo says in the driver's container: the directory of the volumes
// is /data/scratch of a disk, another disk has the same paths.
const table = `22 1 8:1 / / ro,relatime master:1 - ext4 /dev/sda1 rw
30 22 8:2 /scratch /var/lib/berth-scratch rw,relatime master:2 - ext4 /dev/sdb1 rw
31 22 8:1 /var/lib/kubelet/pods /var/lib/kubelet/pods rw,relatime shared:1 - ext4 /dev/sda1 rw
40 31 8:2 /scratch/pod-a/csi-1 /var/lib/kubelet/pods/a/mount rw,relatime shared:1 - ext4 /dev/sdb1 rw
41 31 8:1 /scratch/pod-a/csi-2 /var/lib/kubelet/pods/b/mount rw,relatime shared:1 - ext4 /dev/sda1 rw
42 31 8:2 /scratch/pod-a/csi-3/sub /var/lib/kubelet/pods/c/with\040space rw,relatime shared:1 - ext4 /dev/sdb1 rw
43 31 8:2 /scratch/pod-a/csi-4//deleted /var/lib/kubelet/pods/d/mount rw,relatime shared:1 - ext4 /dev/sdb1 rw
44 30 0:50 / /var/lib/berth-scratch/pod-a/csi-5/tmp rw,relatime shared:1 - tmpfs tmpfs rw
45 31 8:2 /scratch/pod-a/csi-11 /var/lib/kubelet/pods/e/mount rw,relatime shared:1 - ext4 /dev/sdb1 rw
46 31 8:2 /scratch/pod-a/csi-6 /var/lib/kubelet/pods/f/mount rw,relatime shared:1 - ext4 /dev/sdb1 rw
48 22 0:60 / /var/lib/kubelet/pods/g/mount rw,relatime - tmpfs  rw
47 46 8:1 /other /var/lib/kubelet/pods/f/mount rw,relatime shared:1 - ext4 /dev/sda1 rw
`

func parsed(t *testing.T) Table {
	t.Helper()
	file := filepath.Join(t.TempDir(), "mountinfo")
	if err := os.WriteFile(file, []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Where a volume is mounted is known by its disk and its path there, wherever that is seen.
func TestOf(t *testing.T) {
	all := parsed(t)
	for id, want := range map[string][]string{
		"csi-1": {"/var/lib/kubelet/pods/a/mount"},
		"csi-2": nil, // that of another disk
		"csi-3": {"/var/lib/kubelet/pods/c/with space"},
		"csi-4": {"/var/lib/kubelet/pods/d/mount"},
		"csi-5": {"/var/lib/berth-scratch/pod-a/csi-5/tmp"},
		"csi-6": {"/var/lib/kubelet/pods/f/mount"},
		"csi-7": nil,
	} {
		got, err := all.Of("/var/lib/berth-scratch/pod-a/" + id)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s is mounted at %q, %v, want %q", id, got, err, want)
		}
	}
	if got, err := (Table{}).Of("/var/lib/berth-scratch/pod-a/csi-7"); err == nil {
		t.Errorf("a table without anything says %q", got)
	}
}

// What is at a path is the topmost mount there.
func TestIs(t *testing.T) {
	all := parsed(t)
	for _, c := range []struct {
		id, at string
		want   bool
	}{
		{"csi-1", "/var/lib/kubelet/pods/a/mount", true},
		{"csi-2", "/var/lib/kubelet/pods/b/mount", false},
		{"csi-1", "/var/lib/kubelet/pods/e/mount", false},
		{"csi-6", "/var/lib/kubelet/pods/f/mount", false}, // something else is on top
		{"csi-4", "/var/lib/kubelet/pods/d/mount", false}, // a directory that was deleted
		{"csi-1", "/var/lib/kubelet/pods/a", false},
	} {
		if got := all.Is("/var/lib/berth-scratch/pod-a/"+c.id, c.at); got != c.want {
			t.Errorf("%s at %s: %v", c.id, c.at, got)
		}
	}
}
