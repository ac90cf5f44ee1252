//go:build linux

package driver

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	csi "github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"

	"github.com/berthdev/berth/internal/fault"
	"github.com/berthdev/berth/internal/waittest"
)

// short is a directory whose path leaves room for that of a socket.
func short(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "b-") //nolint:usetesting // its path would be too long
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func dial(t *testing.T, path string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("unix://"+path, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// serving is a node whose driver serves, and how it ends.
func serving(t *testing.T, kubelet string) (n *node, s *Server, end func() error) {
	t.Helper()
	n = newNode(t)
	s = &Server{Driver: n.Driver, Path: filepath.Join(kubelet, "plugins", "x", "csi.sock"), Kubelet: kubelet}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	end = func() error { stop(); return <-ended }
	t.Cleanup(stop)
	registry := filepath.Join(kubelet, "plugins_registry", "scratch.berth.dev-reg.sock")
	waittest.Until(t, "the sockets", func() bool { return n.there(registry) && n.there(s.Path) })
	return n, s, end
}

// The kubelet finds the driver, asks who it is, and says whether it is registered. The
// sockets are for root alone; stale ones are replaced, and all are removed at the end.
func TestServe(t *testing.T) {
	kubelet := short(t)
	registry := filepath.Join(kubelet, "plugins_registry", "scratch.berth.dev-reg.sock")
	stale := filepath.Join(kubelet, "plugins", "x", "csi.sock")
	if err := os.MkdirAll(filepath.Dir(stale), 0o700); err != nil {
		t.Fatal(err)
	}
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	listener.SetUnlinkOnClose(false)
	_ = listener.Close()
	n, s, end := serving(t, kubelet)
	for path, want := range map[string]os.FileMode{registry: 0o600, s.Path: 0o600, filepath.Dir(s.Path): 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
	if err := s.Registered(t.Context()); err == nil {
		t.Error("it is registered before the kubelet says so")
	}
	kubeletsView := registration.NewRegistrationClient(dial(t, registry))
	info, err := kubeletsView.GetInfo(t.Context(), &registration.InfoRequest{})
	if err != nil || info.Type != "CSIPlugin" || info.Name != "scratch.berth.dev" || info.Endpoint != s.Path ||
		info.SupportedVersions[0] != "1.0.0" {
		t.Errorf("it is %v, %v", info, err)
	}
	for _, registered := range []bool{true, false, true} {
		if _, err := kubeletsView.NotifyRegistrationStatus(t.Context(),
			&registration.RegistrationStatus{PluginRegistered: registered, Error: "why not"}); err != nil {
			t.Fatal(err)
		}
		if err := s.Registered(t.Context()); (err == nil) != registered {
			t.Errorf("registered %v: %v", registered, err)
		}
	}
	if said := n.log.String(); !strings.Contains(said, "why not") {
		t.Errorf("the log says %s", said)
	}
	conn := dial(t, s.Path)
	if _, err := csi.NewNodeClient(conn).NodePublishVolume(t.Context(), n.request("v")); err != nil {
		t.Error(err)
	}
	if err := end(); err != nil {
		t.Error(err)
	}
	if n.there(registry) || n.there(s.Path) {
		t.Error("sockets are left")
	}
	if _, mounted := n.mountedAt(n.target("v")); !mounted {
		t.Error("the end of the driver has unmounted a volume")
	}
}

// Identity and Node say who the driver is and what it offers: staging and expanding not.
func TestIdentity(t *testing.T) {
	n, s, _ := serving(t, short(t))
	conn := dial(t, s.Path)
	identity, nodes := csi.NewIdentityClient(conn), csi.NewNodeClient(conn)
	who, err := identity.GetPluginInfo(t.Context(), &csi.GetPluginInfoRequest{})
	if err != nil || who.Name != "scratch.berth.dev" || who.VendorVersion != "v1" {
		t.Errorf("it is %v, %v", who, err)
	}
	probe, err := identity.Probe(t.Context(), &csi.ProbeRequest{})
	if err != nil || !probe.Ready.GetValue() {
		t.Errorf("it is ready: %v, %v", probe, err)
	}
	offers, err := identity.GetPluginCapabilities(t.Context(), &csi.GetPluginCapabilitiesRequest{})
	if err != nil || len(offers.Capabilities) != 1 ||
		offers.Capabilities[0].GetService().GetType() != csi.PluginCapability_Service_VOLUME_ACCESSIBILITY_CONSTRAINTS {
		t.Errorf("it offers %v, %v", offers, err)
	}
	where, err := nodes.NodeGetInfo(t.Context(), &csi.NodeGetInfoRequest{})
	if err != nil || where.NodeId != "node-1" ||
		where.AccessibleTopology.GetSegments()["scratch.berth.dev/node"] != "node-1" || where.MaxVolumesPerNode != 0 {
		t.Errorf("it is on %v, %v", where, err)
	}
	can, err := nodes.NodeGetCapabilities(t.Context(), &csi.NodeGetCapabilitiesRequest{})
	if err != nil || len(can.Capabilities) != 1 ||
		can.Capabilities[0].GetRpc().GetType() != csi.NodeServiceCapability_RPC_GET_VOLUME_STATS {
		t.Errorf("it can %v, %v", can, err)
	}
	_, err = nodes.NodeStageVolume(t.Context(), &csi.NodeStageVolumeRequest{VolumeId: "v"})
	n.wantCode(err, codes.Unimplemented, "")
	_, err = nodes.NodeUnstageVolume(t.Context(), &csi.NodeUnstageVolumeRequest{VolumeId: "v"})
	n.wantCode(err, codes.Unimplemented, "")
	_, err = nodes.NodeExpandVolume(t.Context(), &csi.NodeExpandVolumeRequest{VolumeId: "v"})
	n.wantCode(err, codes.Unimplemented, "")
}

// Statistics are bytes and inodes, of a volume that is where it is said to be.
func TestStats(t *testing.T) {
	n := newNode(t)
	n.publish("v")
	ask := func(id, path string) (*csi.NodeGetVolumeStatsResponse, error) {
		return n.NodeGetVolumeStats(t.Context(), &csi.NodeGetVolumeStatsRequest{VolumeId: id, VolumePath: path})
	}
	got, err := ask("v", n.target("v"))
	if err != nil || len(got.Usage) != 2 || got.Usage[0].Unit != csi.VolumeUsage_BYTES ||
		got.Usage[1].Unit != csi.VolumeUsage_INODES {
		t.Fatalf("they are %v, %v", got, err)
	}
	for _, u := range got.Usage {
		if u.Total <= 0 || u.Used <= 0 || u.Available <= 0 || u.Used+u.Available > u.Total {
			t.Errorf("they are %v", u)
		}
	}
	for name, c := range map[string]struct {
		id, path string
		want     codes.Code
	}{
		"no ID":             {"", n.target("v"), codes.InvalidArgument},
		"no path":           {"v", "", codes.InvalidArgument},
		"an unknown volume": {"w", n.target("v"), codes.NotFound},
		"another path":      {"v", n.root, codes.NotFound},
		"a relative path":   {"v", "some/path", codes.NotFound},
		"no such path":      {"v", n.root + "/nothing", codes.NotFound},
	} {
		if _, err := ask(c.id, c.path); status.Code(err) != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	n.unpublish("v")
	_, err = ask("v", n.target("v"))
	n.wantCode(err, codes.NotFound, "is not published")
}

// What is not a socket is not replaced; an endpoint is a path.
func TestEndpoint(t *testing.T) {
	file := filepath.Join(short(t), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Listen(t.Context(), file); fault.CodeOf(err) != fault.InvalidArgument {
		t.Errorf("listening on a file: %v", err)
	}
	for endpoint, want := range map[string]string{
		"unix:///a/b.sock": "/a/b.sock", "unix:///a//b": "/a/b", "unix://a": "", "/a": "", "tcp://x:1": "",
		"unix:///": "",
		"":         "",
	} {
		path, err := EndpointPath(endpoint)
		if path != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v", endpoint, path, err)
		}
	}
}

// A defect in one request is an error of that one.
func TestPanic(t *testing.T) {
	n := newNode(t)
	_, err := n.intercept(t.Context(), nil, &grpc.UnaryServerInfo{FullMethod: "/x"},
		func(context.Context, any) (any, error) { panic("a defect of ours") })
	n.wantCode(err, codes.Internal, "a defect of the driver")
	if said := n.log.String(); !strings.Contains(said, "a defect of ours") {
		t.Errorf("the log says %s", said)
	}
}
