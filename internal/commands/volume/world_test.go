package volume_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	osexec "os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/streaming/pkg/httpstream"

	"github.com/berthdev/berth/internal/commands"
	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/kubetest"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/volume"
	"github.com/berthdev/berth/internal/volume/admin"
)

// now is the time of cmdtest.
func now() time.Time { return time.Date(2026, time.November, 21, 0, 0, 0, 0, time.UTC) }

// driver is a driver in memory; what connects it is real: the socket, and `berth serve
// ask`, which anyone who runs a command in its pod runs.
type driver struct {
	volume.Picture
	archives map[string][]byte
	failing  map[string]error

	mu      sync.Mutex
	purged  []string
	audited []string
}

func (d *driver) Archive(_ context.Context, id string, to io.Writer) error {
	if _, err := io.Copy(to, bytes.NewReader(d.archives[id])); err != nil {
		return err
	}
	return d.failing[id]
}

func (d *driver) Purge(_ context.Context, id string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.purged = append(d.purged, id)
	return d.failing[id]
}

// node is the driver as volume.Node.
type node struct{ *driver }

func (n node) Picture(context.Context) (volume.Picture, error) { return n.driver.Picture, nil }

// world is an API server with the drivers' pods and a workspace, alice, that runs: what is
// run in the pods runs on this machine.
type world struct {
	home string // of the workspace
	dirs map[string]string
}

func newWorld(t *testing.T, drivers map[string]*driver) *world {
	t.Helper()
	cmdtest.Offline(t)
	w := &world{home: t.TempDir(), dirs: map[string]string{}}
	server := kubetest.Start(t, func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if path.Base(r.URL.Path) == "exec" {
				w.exec(t, rw, r) //nolint:contextcheck // a process has its own
				return
			}
			next.ServeHTTP(rw, r)
		})
	})
	cmdtest.Cluster(t, server.URL)
	for name, d := range drivers {
		dir := t.TempDir()
		w.dirs["berth-volumes-"+name] = dir
		if d == nil {
			continue
		}
		l, err := net.Listen("unix", admin.Path(dir))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error, 1)
		go func() {
			ended <- admin.Serve(ctx, l, admin.Config{Node: node{d}, Now: time.Now, Audit: func(a admin.Audited) {
				d.mu.Lock()
				defer d.mu.Unlock()
				d.audited = append(d.audited, a.Did+" "+a.Volume+" for "+a.Claimed)
			}})
		}()
		t.Cleanup(func() {
			cancel()
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
	for name := range w.dirs {
		server.Put("/api/v1/namespaces/berth-volumes/pods/"+name, driverPod(name, w.dirs[name], "running"))
	}
	cmdtest.Must(t, 0, "provision", "alice")
	return w
}

func driverPod(name, dir, state string) *kubetest.Object {
	return &kubetest.Object{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{
			"namespace": "berth-volumes",
			"labels":    map[string]any{"app.kubernetes.io/name": "berth", "app.kubernetes.io/component": "volumes"},
		},
		"spec": map[string]any{
			"nodeName": strings.TrimPrefix(name, "berth-volumes-"),
			"containers": []any{map[string]any{"name": "volumes", "args": []any{"serve", "volumes", "--directory=" +
				dir}}},
		},
		"status": map[string]any{
			"phase": "Running",
			"containerStatuses": []any{map[string]any{
				"name":  "volumes",
				"state": map[string]any{state: map[string]any{}},
			}},
		},
	}}
}

// exec runs berth in a driver's pod, and a shell in the workspace's.
func (w *world) exec(t *testing.T, rw http.ResponseWriter, r *http.Request) {
	pod, command := path.Base(path.Dir(r.URL.Path)), r.URL.Query()["command"]
	kubetest.Exec(rw, r, func(streams map[string]httpstream.Stream) {
		var status int
		if dir, driver := w.dirs[pod]; driver {
			if command[0] != "/berth" || r.URL.Query().Get("container") != "volumes" ||
				!strings.Contains(strings.Join(command, " "), "--directory="+dir) {
				t.Errorf("%q is run in %s", command, pod)
			}
			s, _ := terminal.Test("", now())
			s.Out.Writer, s.Err.Writer = streams["stdout"], streams["stderr"]
			status = commands.Main(command[1:], s, func(int) {})
		} else {
			status = w.shell(r.Context(), command, streams)
		}
		for _, name := range []string{"stdout", "stderr"} {
			if streams[name] != nil {
				_ = streams[name].Close()
			}
		}
		answer := `{"status":"Success"}`
		if status != 0 {
			answer = fmt.Sprintf(`{"status":"Failure","reason":"NonZeroExitCode",`+
				`"details":{"causes":[{"reason":"ExitCode","message":"%d"}]}}`, status)
		}
		_, _ = io.WriteString(streams["error"], answer)
		_ = streams["error"].Close()
	})
}

func (w *world) shell(ctx context.Context, command []string, streams map[string]httpstream.Stream) int {
	cmd := osexec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env = []string{"HOME=" + w.home, "PATH=" + os.Getenv("PATH")}
	cmd.Stdout, cmd.Stderr = streams["stdout"], streams["stderr"]
	if in := streams["stdin"]; in != nil {
		pipe, err := cmd.StdinPipe()
		if err != nil {
			return 1
		}
		go func() {
			_, _ = io.Copy(pipe, in)
			_ = pipe.Close()
		}()
	}
	err := cmd.Run()
	if exit, ok := errors.AsType[*osexec.ExitError](err); ok {
		return exit.ExitCode()
	}
	return 0
}

// id is the ID of a volume as the kubelet makes them.
func id(begin string) string { return "csi-" + begin + strings.Repeat("0", 64-len(begin)) }

func kept(begin, userString, storage string, ago, lifespan time.Duration, bytes int64) volume.Volume {
	v := volume.Volume{
		ID: id(begin), Namespace: "dev", Pod: "pod-" + begin, PodUID: "uid-" + begin, UserString: userString,
		Storage:   storage,
		Published: now().Add(-ago - time.Hour), Deleted: now().Add(-ago), Lifespan: lifespan, Bytes: bytes,
		Inodes: bytes / 1000,
	}
	if userString != "" {
		v.Workspace = strings.ReplaceAll(userString, "~", "-") + "-1234567"
	}
	return v
}

// tree is an archive of a few files, as a driver makes it.
func tree(t *testing.T) []byte {
	t.Helper()
	return archive(t,
		tar.Header{Typeflag: tar.TypeDir, Name: "src/", Mode: 0o750},
		tar.Header{Typeflag: tar.TypeReg, Name: "src/main.go", Mode: 0o640, Size: 8},
		tar.Header{Typeflag: tar.TypeSymlink, Name: "link", Linkname: "src/main.go"},
		tar.Header{Typeflag: tar.TypeLink, Name: "src/same.go", Linkname: "src/main.go"},
		tar.Header{Typeflag: tar.TypeReg, Name: ".hidden", Mode: 0o600, Size: 8},
	)
}

func archive(t *testing.T, headers ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		h.ModTime, h.Format = now(), tar.FormatPAX
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, "package "[:h.Size]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// listing are the files below a directory, with modes and contents.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		fmt.Fprintf(&b, "%s %s", info.Mode(), rel)
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %q", content)
		}
		b.WriteString("\n")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var errNode = fault.New(fault.Failed, "file a cannot be read").WithHint("look at the disk")
