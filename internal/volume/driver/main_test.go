//go:build linux

package driver

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	csi "github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/berthdev/berth/internal/skiptest"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/mounts"
)

// envInside says that the tests run in a mount namespace of their own.
const envInside = "BERTH_TEST_MOUNT_NAMESPACE"

// TestMain runs the tests of root in a mount namespace of their own, so that nothing stays
// mounted, and this program as a driver that is to be killed.
func TestMain(m *testing.M) {
	if os.Getenv(envChild) != "" {
		os.Exit(child())
	}
	if os.Getuid() != 0 || os.Getenv(envInside) != "" {
		os.Exit(m.Run())
	}
	again := exec.Command("/proc/self/exe", os.Args[1:]...)
	again.Stdin, again.Stdout, again.Stderr = os.Stdin, os.Stdout, os.Stderr
	again.Env = append(os.Environ(), envInside+"=1")
	again.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	err := again.Run()
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended):
		os.Exit(max(ended.ExitCode(), 1))
	case errors.Is(err, syscall.EPERM): // root of a container, perhaps
		os.Exit(m.Run())
	case err != nil:
		panic(err)
	}
}

// mounting skips a test where nothing can be mounted.
func mounting(t *testing.T) {
	t.Helper()
	if os.Getenv(envInside) == "" {
		skiptest.Lacks(t, "takes root, and a mount namespace of its own")
	}
}

// clock is a time that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// node is a driver and what is around it.
type node struct {
	*testing.T
	*Driver
	clock *clock
	root  string
	log   *logged
}

// logged is what the log says.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// newNode starts a driver in an empty directory.
func newNode(t *testing.T, change ...func(*Options)) *node {
	t.Helper()
	mounting(t)
	root := t.TempDir()
	// What a test leaves mounted would keep the directory from being removed.
	t.Cleanup(func() { unmountBelow(t, root) })
	n := &node{T: t, root: root, clock: &clock{now: time.Unix(1e9, 0).UTC()}, log: &logged{}}
	n.start(change...)
	return n
}

func unmountBelow(t *testing.T, root string) {
	t.Helper()
	table, err := mounts.Read()
	if err != nil {
		t.Error(err)
	}
	for _, m := range slices.Backward(table) {
		if strings.HasPrefix(m.Mountpoint, root) {
			_ = unix.Unmount(m.Mountpoint, unix.MNT_DETACH)
		}
	}
}

func (n *node) start(change ...func(*Options)) {
	n.Helper()
	o := Options{
		Name: "scratch.berth.dev", Version: "v1", Node: "node-1", Directory: filepath.Join(n.root, "work"),
		Afterlife:     time.Hour,
		PruneInterval: time.Second, Headroom: 0, Now: n.clock.Now, Log: slog.New(slog.NewTextHandler(n.log, nil)),
	}
	for _, c := range change {
		c(&o)
	}
	d, err := New(o)
	if err != nil {
		n.Fatal(err)
	}
	n.Driver = d
	n.Cleanup(func() { _ = d.Close() })
}

// again restarts the driver.
func (n *node) again(change ...func(*Options)) {
	n.Helper()
	if err := n.Close(); err != nil {
		n.Fatal(err)
	}
	n.start(change...)
}

func (n *node) target(id string) string { return filepath.Join(n.root, "pods", id, "mount") }
func (n *node) data(id string) string   { return filepath.Join(n.root, "work", "pod-"+id, id) }

// request is one that the kubelet would send.
func (n *node) request(id string, attributes ...string) *csi.NodePublishVolumeRequest {
	r := &csi.NodePublishVolumeRequest{
		VolumeId: id, TargetPath: n.target(id),
		VolumeCapability: &csi.VolumeCapability{
			AccessMode: &csi.VolumeCapability_AccessMode{Mode: csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER},
			AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{}},
		},
		VolumeContext: map[string]string{
			contextEphemeral: "true", contextPodUID: "pod-" + id, contextPod: "web", contextNamespace: "team",
			"csi.storage.k8s.io/serviceAccount.name": "default",
		},
	}
	for i := 0; i < len(attributes); i += 2 {
		r.VolumeContext[attributes[i]] = attributes[i+1]
	}
	return r
}

func (n *node) publish(id string, attributes ...string) {
	n.Helper()
	if err := os.MkdirAll(filepath.Dir(n.target(id)), 0o750); err != nil {
		n.Fatal(err)
	}
	if _, err := n.NodePublishVolume(n.Context(), n.request(id, attributes...)); err != nil {
		n.Fatal(err)
	}
}

func (n *node) tryUnpublish(id string) error {
	_, err := n.NodeUnpublishVolume(n.Context(), &csi.NodeUnpublishVolumeRequest{
		VolumeId:   id,
		TargetPath: n.target(id),
	})
	return err
}

func (n *node) unpublish(id string) {
	n.Helper()
	if err := n.tryUnpublish(id); err != nil {
		n.Fatal(err)
	}
}

// gone publishes a volume with a file, and unpublishes it.
func (n *node) gone(id string, attributes ...string) {
	n.Helper()
	n.publish(id, attributes...)
	n.write(filepath.Join(n.target(id), "file"), "of "+id)
	n.unpublish(id)
}

func (n *node) write(path, text string) {
	n.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		n.Fatal(err)
	}
}

func (n *node) there(path string) bool {
	n.Helper()
	_, err := os.Lstat(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		n.Fatal(err)
	}
	return err == nil
}

func (n *node) mountedAt(path string) (*mountinfo.Info, bool) {
	n.Helper()
	table, err := mounts.Read()
	if err != nil {
		n.Fatal(err)
	}
	return table.At(path)
}

// waitingFor are the IDs in the queue.
func (n *node) waitingIDs() string {
	var all []string
	for _, v := range n.queue.Waiting() {
		all = append(all, v.ID)
	}
	return strings.Join(all, " ")
}

func (n *node) wantWaiting(want string) {
	n.Helper()
	if got := n.waitingIDs(); got != want {
		n.Errorf("in the queue are %q, want %q", got, want)
	}
}

func (n *node) wantCode(err error, want codes.Code, says string) {
	n.Helper()
	if status.Code(err) != want || !strings.Contains(status.Convert(err).Message(), says) {
		n.Errorf("the answer is %v, want %s with %q", err, want, says)
	}
}

// one is the only volume in the queue.
func (n *node) one() volume.Volume {
	n.Helper()
	all := n.queue.Waiting()
	if len(all) != 1 {
		n.Fatalf("in the queue are %d volumes", len(all))
	}
	return all[0]
}

func testContext(t *testing.T) (context.Context, context.CancelFunc) {
	t.Helper()
	return context.WithCancel(t.Context())
}

func (n *node) prune() { n.Prune(context.Background()) }
