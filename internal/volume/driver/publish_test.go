//go:build linux

package driver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	csi "github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"

	"github.com/berthdev/berth/internal/volume/mounts"
)

// Publish, 1: volume ID, target path and capability are there; ephemeral is true; mount
// access, not block; IDs are single path elements. A fault is InvalidArgument and leaves
// nothing behind. A size is refused with the reason, never ignored.
func TestPublishChecks(t *testing.T) {
	type request = csi.NodePublishVolumeRequest
	attribute := func(key, value string) func(*request) {
		return func(r *request) { r.VolumeContext[key] = value }
	}
	for name, c := range map[string]struct {
		change func(*request)
		says   string
	}{
		"no volume ID":   {func(r *request) { r.VolumeId = "" }, "the volume ID is missing"},
		"no target path": {func(r *request) { r.TargetPath = "" }, "the target path is missing"},
		"no capability":  {func(r *request) { r.VolumeCapability = nil }, "the volume capability is missing"},
		"no access type": {func(r *request) { r.VolumeCapability.AccessType = nil }, "no access type"},
		"block access": {func(r *request) {
			r.VolumeCapability.AccessType = &csi.VolumeCapability_Block{Block: &csi.VolumeCapability_BlockVolume{}}
		}, "block access is not offered"},
		"not ephemeral": {attribute(contextEphemeral, "false"), "only inline (ephemeral)"},
		"ephemeral is not said": {
			func(r *request) { delete(r.VolumeContext, contextEphemeral) },
			"only inline (ephemeral)",
		},
		"no attributes":              {func(r *request) { r.VolumeContext = nil }, "only inline (ephemeral)"},
		"a volume ID that is a path": {func(r *request) { r.VolumeId = "a/b" }, "single path element"},
		"a volume ID that leads up":  {func(r *request) { r.VolumeId = ".." }, "single path element"},
		"a volume ID that is too long": {
			func(r *request) { r.VolumeId = strings.Repeat("x", 256) },
			"single path element",
		},
		"no pod UID": {
			func(r *request) { delete(r.VolumeContext, contextPodUID) },
			"podInfoOnMount",
		},
		"a pod UID that leads up":  {attribute(contextPodUID, ".."), "single path element"},
		"a pod UID that is a path": {attribute(contextPodUID, "/etc"), "single path element"},
		"a size":                   {attribute("size", "1Gi"), "no quota"},
		"an empty size":            {attribute("size", ""), "no quota"},
		"an afterlife that is no duration": {
			attribute("afterlife", "soon"),
			`must be a duration such as 30m, got "soon"`,
		},
		"an afterlife less than none": {attribute("afterlife", "-1s"), "must be a duration"},
		"a relative target":           {func(r *request) { r.TargetPath = "mount" }, "absolute path"},
		"a target that is everything": {func(r *request) { r.TargetPath = "/.." }, "absolute path"},
		"a target in the working directory": {func(r *request) {
			r.TargetPath = strings.Replace(r.TargetPath, "/pods/",
				"/work/", 1)
		}, "in the working directory"},
		"mount flags": {func(r *request) {
			r.VolumeCapability.GetMount().
				MountFlags = []string{"suid"}
		}, "mount flags"},
		"an access mode of several nodes": {func(r *request) {
			r.VolumeCapability.AccessMode.Mode = csi.VolumeCapability_AccessMode_MULTI_NODE_MULTI_WRITER
		}, "is on one node"},
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t)
			r := n.request("v")
			c.change(r)
			_, err := n.NodePublishVolume(t.Context(), r)
			n.wantCode(err, codes.InvalidArgument, c.says)
			if f := n.queue.Figures(); f.Used+f.Waiting != 0 {
				t.Errorf("records are left: %+v", f)
			}
			entries, _ := filepath.Glob(n.root + "/work/*/*")
			if len(entries) > 0 || n.there(n.root+"/pods") {
				t.Errorf("left are %q, or the target", entries)
			}
		})
	}
}

// Publish, 2 and 3: the record is written, then the directory is made, then it is mounted.
func TestPublishOrder(t *testing.T) {
	var steps []string
	var n *node
	n = newNode(t, func(o *Options) {
		o.Step = func(s Step) {
			_, recorded := n.queue.Get("v")
			_, mounted := n.mountedAt(n.target("v"))
			steps = append(steps, fmt.Sprintf("%s: %v %v %v", s, recorded, n.there(n.data("v")), mounted))
		}
	})
	n.publish("v")
	want := "publish: recorded: true false false, publish: directory made: true true false, publish: " +
		"mounted: true true true"
	if got := strings.Join(steps, ", "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Publish, 3: $WORKDIR/<pod UID>/<volume ID> is made, for the user that the pod runs as, while
// nobody else gets there.
func TestPublishDirectory(t *testing.T) {
	old := syscall.Umask(0o027)
	defer syscall.Umask(old)
	n := newNode(t)
	n.publish("v")
	for path, want := range map[string]os.FileMode{n.data("v"): 0o777, filepath.Dir(n.data("v")): 0o700, n.root +
		"/work": 0o700, n.root + "/work/queue.db": 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
}

// Publish, 3: an existing one is used again, also one in its afterlife, which then is in it no more.
func TestPublishUsesAgain(t *testing.T) {
	n := newNode(t)
	n.gone("v")
	n.wantWaiting("v")
	n.publish("v")
	n.wantWaiting("")
	if text, err := os.ReadFile(n.target("v") + "/file"); err != nil || string(text) != "of v" {
		t.Errorf("the file has %q, %v", text, err)
	}
	n.clock.add(2 * time.Hour)
	n.prune()
	if !n.there(n.data("v") + "/file") {
		t.Error("it was removed while it is in use")
	}
}

// Publish, 4: bind mounted to the target path; made if absent.
func TestPublishMakesTheTarget(t *testing.T) {
	n := newNode(t)
	if _, err := n.NodePublishVolume(t.Context(), n.request("v")); err != nil { // not even its parent is there
		t.Fatal(err)
	}
	n.write(n.target("v")+"/file", "x")
	if !n.there(n.data("v") + "/file") {
		t.Error("what is written at the target is not in the directory")
	}
}

// Publish, 4: already mounted: done, and mounted once.
func TestPublishTwice(t *testing.T) {
	n := newNode(t)
	n.publish("v", "afterlife", "1m")
	n.clock.add(time.Minute)
	n.publish("v", "afterlife", "1m")
	table, err := mounts.Read()
	if err != nil {
		t.Fatal(err)
	}
	if at, err := table.Of(n.data("v")); err != nil || len(at) != 1 {
		t.Errorf("it is mounted at %q, %v", at, err)
	}
	n.unpublish("v")
	if v := n.one(); !v.Published.Equal(time.Unix(1e9, 0)) {
		t.Errorf("it was published at %s", v.Published)
	}
}

// Publish, 4: readonly honoured, also when the process ended between mounting and that.
func TestPublishReadOnly(t *testing.T) {
	for name, change := range map[string]func(*csi.NodePublishVolumeRequest){
		"readonly": func(r *csi.NodePublishVolumeRequest) { r.Readonly = true },
		"mode": func(r *csi.NodePublishVolumeRequest) {
			r.VolumeCapability.AccessMode.Mode = csi.VolumeCapability_AccessMode_SINGLE_NODE_READER_ONLY
		},
		"flag": func(r *csi.NodePublishVolumeRequest) { r.VolumeCapability.GetMount().MountFlags = []string{"ro"} },
	} {
		for _, before := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, mounted before: %v", name, before), func(t *testing.T) {
				n := newNode(t)
				if before {
					n.publish("v")
				}
				r := n.request("v")
				change(r)
				if _, err := n.NodePublishVolume(t.Context(), r); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(n.target("v")+"/file", nil, 0o600); !errors.Is(err, syscall.EROFS) {
					t.Errorf("writing: %v", err)
				}
				n.write(n.data("v")+"/file", "by the node") // only the mount is read-only
			})
		}
	}
}

// Publish, 4: fsGroup respected: the kubelet gives the files to the group (fsGroupPolicy
// File), as the driver does not offer to; what it sets stays, also with the next publication.
func TestPublishFSGroup(t *testing.T) {
	n := newNode(t)
	answer, err := n.NodeGetCapabilities(t.Context(), nil)
	if err != nil || strings.Contains(answer.String(), "VOLUME_MOUNT_GROUP") {
		t.Fatalf("%v, %v", answer, err)
	}
	n.publish("v")
	if err := errors.Join(os.Chown(n.target("v"), 0, 2000), os.Chmod(n.target("v"), 0o775|os.ModeSetgid)); err != nil {
		t.Fatal(err)
	}
	n.publish("v")
	info, err := os.Stat(n.data("v"))
	if err != nil || info.Mode() != os.ModeDir|os.ModeSetgid|0o775 || info.Sys().(*syscall.Stat_t).Gid != 2000 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// Publish, 5: if mounting fails, the error goes to the kubelet and the directory is
// removed if it is empty, with its record.
func TestPublishFails(t *testing.T) {
	n := newNode(t)
	n.write(n.root+"/pods", "not a directory")
	_, err := n.NodePublishVolume(t.Context(), n.request("v"))
	n.wantCode(err, codes.Internal, "not a directory")
	if n.there(filepath.Dir(n.data("v"))) {
		t.Error("the directory is left")
	}
	if f := n.queue.Figures(); f.Used+f.Waiting != 0 {
		t.Errorf("records are left: %+v", f)
	}
}

// Publish, 5: what is in the directory stays, in its afterlife as it was before.
func TestPublishFailsWithData(t *testing.T) {
	n := newNode(t)
	n.gone("v")
	n.clock.add(time.Minute)
	if err := os.RemoveAll(n.root + "/pods"); err != nil {
		t.Fatal(err)
	}
	n.write(n.root+"/pods", "not a directory")
	_, err := n.NodePublishVolume(t.Context(), n.request("v"))
	n.wantCode(err, codes.Internal, "not a directory")
	if v := n.one(); !v.Deleted.Equal(time.Unix(1e9, 0)) || !n.there(n.data("v")+"/file") {
		t.Errorf("it is in its afterlife since %s", v.Deleted)
	}
}

// Something else at the target is left alone.
func TestPublishOverAnother(t *testing.T) {
	n := newNode(t)
	n.publish("other")
	r := n.request("v")
	r.TargetPath = n.target("other")
	_, err := n.NodePublishVolume(t.Context(), r)
	n.wantCode(err, codes.Internal, "something else is mounted")
	link := n.root + "/link"
	if err := os.Symlink(n.root, link); err != nil {
		t.Fatal(err)
	}
	r.TargetPath = link
	_, err = n.NodePublishVolume(t.Context(), r)
	n.wantCode(err, codes.Internal, "")
}

// The ID of a volume is that of one pod; and no more are published than the node may have.
func TestPublishLimits(t *testing.T) {
	n := newNode(t, func(o *Options) { o.MaxVolumes = 1 })
	n.publish("a")
	n.publish("a")
	_, err := n.NodePublishVolume(t.Context(), n.request("b"))
	n.wantCode(err, codes.ResourceExhausted, "--max-volumes")
	_, err = n.NodePublishVolume(t.Context(), n.request("a", contextPodUID, "another"))
	n.wantCode(err, codes.AlreadyExists, "that of pod pod-a")
	n.unpublish("a")
	n.publish("b")
}

// The lifespan is what the pod asks for, but never longer than the node's.
func TestPublishAfterlife(t *testing.T) {
	for asked, want := range map[string]time.Duration{
		"": time.Hour, "10m": 10 * time.Minute, "2h": time.Hour,
		"0s": 0,
	} {
		n := newNode(t)
		n.gone("v", "afterlife", asked)
		if v := n.one(); v.Lifespan != want {
			t.Errorf("asked for %q it is %s", asked, v.Lifespan)
		}
	}
}

// What the pod says of itself is kept for administrators, unless it cannot be what it is to be.
func TestPublishAbout(t *testing.T) {
	n := newNode(t)
	n.gone("v", "workspace", "alice-1", "userString", "alice~dev", "storage", "build")
	v := n.one()
	if v.Namespace != "team" || v.Pod != "web" || v.PodUID != "pod-v" || v.Workspace != "alice-1" ||
		v.UserString != "alice~dev" || v.Storage != "build" {
		t.Errorf("kept is %+v", v)
	}
	n = newNode(t)
	n.gone("v", "workspace", "a\nb", "userString", strings.Repeat("u", 3000), "storage", strings.Repeat("s", 64))
	if v := n.one(); v.Workspace != "" || v.UserString != "" || v.Storage != "" {
		t.Errorf("kept is %+v", v)
	}
}

// A repetition that fails is not final: after a final error the kubelet would not unpublish
// what was published before.
func TestPublishAgainFails(t *testing.T) {
	n := newNode(t)
	n.publish("v")
	unmountBelow(t, n.target("v"))
	if err := os.Remove(n.target("v")); err != nil {
		t.Fatal(err)
	}
	n.write(n.target("v"), "in the way")
	_, err := n.NodePublishVolume(t.Context(), n.request("v"))
	n.wantCode(err, codes.Unavailable, "is not a directory")
	if r, ok := n.queue.Get("v"); !ok || r.Waits() || !n.there(n.data("v")) {
		t.Errorf("its record is %+v", r)
	}
}

// What a pod may only read is not published again for writing with success.
func TestPublishReadOnlyThenNot(t *testing.T) {
	n := newNode(t)
	r := n.request("v")
	r.Readonly = true
	if _, err := n.NodePublishVolume(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	_, err := n.NodePublishVolume(t.Context(), n.request("v"))
	n.wantCode(err, codes.AlreadyExists, "read-only")
	if r, ok := n.queue.Get("v"); !ok || r.Waits() {
		t.Errorf("its record is %+v", r)
	}
}

// A request that nobody waits for any more is not begun.
func TestPublishTooLate(t *testing.T) {
	n := newNode(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := n.NodePublishVolume(ctx, n.request("v")); err == nil || n.there(n.data("v")) {
		t.Errorf("it was published, %v", err)
	}
}
