package serve_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/berthdev/berth/internal/commands/cmdtest"
	"github.com/berthdev/berth/internal/commands/serve"
	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/goldentest"
	"github.com/berthdev/berth/internal/terminal"
	"github.com/berthdev/berth/internal/waittest"
)

func TestVolumesOptions(t *testing.T) {
	forget := func(o *serve.VolumesOptions) { o.IO, o.Client = terminal.Streams{}, nil }
	defaults := func(change func(*serve.VolumesOptions)) serve.VolumesOptions {
		o := serve.VolumesOptions{
			About: serve.About{MetricsListen: "127.0.0.1:8081"}, Scratch: serve.DefaultScratch(),
			Node: "n",
		}
		change(&o)
		return o
	}
	cmdtest.Options(t, serve.NewVolumes, forget, map[string]cmdtest.Case[serve.VolumesOptions]{
		"the defaults": {Args: "--node n", Want: defaults(func(*serve.VolumesOptions) {})},
		"all of it": {
			Args: "--node n --endpoint unix:///e --directory /d/ --afterlife 1h --prune-interval 1s --headroom 0 " +
				"--max-volumes 7 --max-queued 0 --driver-name x.y --kubelet-directory /k --metrics-listen :1 " +
				"--tls-cert c --tls-key k",
			Want: defaults(func(o *serve.VolumesOptions) {
				o.Endpoint, o.About = "unix:///e", serve.About{MetricsListen: ":1", Cert: "c", Key: "k"}
				o.Scratch = serve.Scratch{
					Driver: "x.y", Directory: "/d", Kubelet: "/k", Afterlife: time.Hour,
					PruneInterval: time.Second, MaxVolumes: 7,
				}
			}),
		},
		"the flags of katbox": {
			Args: "--nodeid n --endpoint unix:///e --workdir /d --afterlifespan 3h --pruneinterval 1s --headroom .2 " +
				"--maxvolumespernode 7 --drivername x.y",
			Want: defaults(func(o *serve.VolumesOptions) {
				o.Endpoint, o.Driver, o.Directory = "unix:///e", "x.y", "/d"
				o.Afterlife, o.PruneInterval, o.Headroom, o.MaxVolumes = 3*time.Hour, time.Second, 0.2, 7
			}),
		},
		"katbox's flags in the words of its docs": {
			Args: "--node n --afterLifespan 3h",
			Want: defaults(func(o *serve.VolumesOptions) { o.Afterlife = 3 * time.Hour }),
		},
		"a flag of katbox that is wrong": {
			Args: "--node n --afterlifespan -1s",
			Err:  "--afterlife must not be negative, got -1s",
		},
		"fewer that wait than none": {
			Args: "--node n --max-queued -1",
			Err:  "--max-queued must not be negative, got -1",
		},
		"for readers": {
			Args: "--node n --read-listen :8443 --client-ca ca --tls-cert c --tls-key k",
			Want: defaults(func(o *serve.VolumesOptions) {
				o.Cert, o.Key, o.Reading = "c", "k", serve.Reading{ReadListen: ":8443", ClientCA: "ca"}
			}),
		},
		"client certificates of nobody": {
			Args: "--node n --client-ca ca --tls-cert c --tls-key k", Err: "--client-ca requires --read-listen",
		},
		"client certificates without TLS": {
			Args: "--node n --read-listen :8443 --client-ca ca", Err: "--client-ca requires --tls-cert",
		},
		"no node": {Err: "--node is required"},
		"headroom below the range": {
			Args: "--node n --headroom -0.1",
			Err:  "--headroom must be from 0 to 1, got -0.1",
		},
		"headroom above the range": {
			Args: "--node n --headroom 1.01",
			Err:  "--headroom must be from 0 to 1, got 1.01",
		},
		"headroom, no number": {
			Args: "--node n --headroom NaN",
			Err:  "--headroom must be from 0 to 1, got NaN",
		},
		"an afterlife less than none": {
			Args: "--node n --afterlife -1s",
			Err:  "--afterlife must not be negative, got -1s",
		},
		"no interval": {
			Args: "--node n --prune-interval 0s",
			Err:  "--prune-interval must be positive, got 0s",
		},
		"fewer volumes than none": {
			Args: "--node n --max-volumes -1",
			Err:  "--max-volumes must not be negative, got -1",
		},
		"a driver that is no name": {
			Args: "--node n --driver-name A/b",
			Err:  `--driver-name must be a DNS name of at most 63 characters, got "A/b"`,
		},
		"a relative directory": {
			Args: "--node n --directory d",
			Err:  `--directory must be an absolute path, got "d"`,
		},
		"the directory of everything": {
			Args: "--node n --directory /x/..",
			Err:  "--directory must be an absolute path",
		},
		"a relative kubelet directory": {
			Args: "--node n --kubelet-directory k",
			Err:  "--kubelet-directory must be an absolute path",
		},
		"half a certificate": {
			Args: "--node n --tls-cert c",
			Err:  "--tls-cert and --tls-key are given together",
		},
		"an argument that nobody takes": {Args: "--node n x", Err: `unexpected argument "x"`},
	})
}

// The whole role: sockets, health and metrics, and an end that leaves nothing but the records.
func TestServeVolumes(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("scratch volumes are served on Linux only")
	}
	root, err := os.MkdirTemp("", "v-") //nolint:usetesting // a socket has a path of 107 bytes at most
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(root) }()
	streams, _ := terminal.Test("", time.Now())
	about := freePort(t)
	o := &serve.VolumesOptions{
		IO: streams, About: serve.About{MetricsListen: about}, Scratch: serve.DefaultScratch(),
		Node: "n",
	}
	o.Directory, o.Kubelet = filepath.Join(root, "work"), filepath.Join(root, "kubelet")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- serve.Volumes(ctx, o) }()
	get := func(path string) (int, string) {
		response, err := http.Get("http://" + about + path)
		if err != nil {
			return 0, ""
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		return response.StatusCode, string(text)
	}
	waittest.Until(t, "it lives", func() bool { code, _ := get("/healthz"); return code == http.StatusOK })
	if code, text := get("/readyz"); code != http.StatusServiceUnavailable ||
		!strings.Contains(text, "the kubelet has not registered the driver yet") {
		t.Errorf("it is ready: %d %s", code, text)
	}
	_, text := get("/metrics")
	for _, want := range []string{
		"berth_scratch_volumes_used 0", "berth_scratch_volumes_queued 0", "berth_scratch_volumes_queued_bytes 0",
		"berth_scratch_pressure_factor ", "berth_scratch_volumes_removed_total 0",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics have no %s", want)
		}
	}
	waittest.Until(t, "the sockets", func() bool {
		_, driver := os.Stat(filepath.Join(o.Kubelet, "plugins", "scratch.berth.dev", "csi.sock"))
		_, registry := os.Stat(filepath.Join(o.Kubelet, "plugins_registry", "scratch.berth.dev-reg.sock"))
		return driver == nil && registry == nil
	})
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	o.Endpoint = "tcp://127.0.0.1:1"
	if err := serve.Volumes(t.Context(), o); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("an endpoint that is no socket: %v", err)
	}
}

// What is printed for the driver of scratch volumes, and what is said about it.
func TestManifestsOfVolumes(t *testing.T) {
	plain, said := volumeManifests(t, func(*serve.ManifestsOptions) {})
	goldentest.Check(t, "volumes.yaml", plain)
	if !strings.Contains(said, "The pods of the namespace berth-volumes are privileged.") {
		t.Errorf("it says %q", said)
	}
	read, _ := volumeManifests(t, func(o *serve.ManifestsOptions) {
		o.Read, o.ReadHostPort, o.Hosts = true, 9443, []string{"volumes.example.com"}
	})
	const between = "---\n"
	before := strings.Split(plain, between)
	other := slices.DeleteFunc(strings.Split(read, between),
		func(one string) bool { return slices.Contains(before, one) })
	goldentest.Check(t, "volumesread.yaml", strings.Join(other, between))
}

// volumeManifests is what is printed for the driver, and what is said.
func volumeManifests(t *testing.T, change func(*serve.ManifestsOptions)) (printed, said string) {
	t.Helper()
	streams, out := terminal.Test("", time.Now())
	o := &serve.ManifestsOptions{
		IO: streams, Roles: []string{"volumes"}, Image: "registry.example.com/berth:v1", Namespace: "berth-volumes",
		Replicas: 2, Issuer: "ours", Scratch: serve.DefaultScratch(),
	}
	o.Headroom, o.Kubelet = 0.2, "/var/lib/k0s/kubelet"
	change(o)
	if err := serve.Manifests(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	return out.Out.String(), out.Err.String()
}
