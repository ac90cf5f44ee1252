//go:build linux

package driver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	csi "github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/wrapperspb"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"

	"github.com/berthdev/berth/internal/fault"
)

// Where the kubelet looks for drivers, below its directory.
const (
	dirPlugins  = "plugins"
	dirRegistry = "plugins_registry"
)

// Endpoint is where a driver listens unless it is told otherwise.
func Endpoint(kubelet, name string) string {
	return "unix://" + filepath.Join(kubelet, dirPlugins, name, "csi.sock")
}

// stopTimeout is how long requests may take when the driver ends; the kubelet repeats those that are cut off.
const stopTimeout = 10 * time.Second

// Server answers the kubelet.
type Server struct {
	Driver *Driver
	// Path is the socket, and Kubelet the directory of the kubelet.
	Path, Kubelet string

	registered atomic.Bool
}

// Serve answers on both sockets, that of the driver and that by which the kubelet finds it,
// until ctx ends; then requests are let end within a bound.
func (s *Server) Serve(ctx context.Context) error {
	driver, err := Listen(ctx, s.Path)
	if err != nil {
		return err
	}
	registry, err := Listen(ctx, filepath.Join(s.Kubelet, dirRegistry, s.Driver.o.Name+"-reg.sock"))
	if err != nil {
		driver.Close()
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	serve := func(on net.Listener, register func(*grpc.Server)) {
		server := grpc.NewServer(grpc.UnaryInterceptor(s.Driver.intercept), grpc.MaxConcurrentStreams(256))
		register(server)
		group.Go(func() error {
			if err := server.Serve(on); !errors.Is(err, grpc.ErrServerStopped) {
				return err
			}
			return nil // it was stopped before it began
		})
		group.Go(func() error {
			<-ctx.Done()
			cut := time.AfterFunc(stopTimeout, server.Stop)
			defer cut.Stop()
			server.GracefulStop()
			return nil
		})
	}
	serve(driver, func(server *grpc.Server) {
		csi.RegisterIdentityServer(server, s.Driver)
		csi.RegisterNodeServer(server, s.Driver)
	})
	serve(registry, func(server *grpc.Server) {
		registration.RegisterRegistrationServer(server, &registrar{server: s})
	})
	return group.Wait()
}

// Registered is an error until the kubelet knows the driver.
func (s *Server) Registered(context.Context) error {
	if !s.registered.Load() {
		return fault.New(fault.Unavailable, "the kubelet has not registered the driver yet")
	}
	return nil
}

// registrar tells the kubelet which driver this is.
type registrar struct {
	registration.UnimplementedRegistrationServer
	server *Server
}

func (r *registrar) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return &registration.PluginInfo{
		Type: registration.CSIPlugin, Name: r.server.Driver.o.Name, Endpoint: r.server.Path,
		SupportedVersions: []string{"1.0.0"},
	}, nil
}

func (r *registrar) NotifyRegistrationStatus(_ context.Context,
	s *registration.RegistrationStatus,
) (*registration.RegistrationStatusResponse, error) {
	r.server.registered.Store(s.GetPluginRegistered())
	if !s.GetPluginRegistered() {
		r.server.Driver.o.Log.Error("the kubelet has refused the driver",
			slog.String("error", fault.Line(s.GetError())))
	} else {
		r.server.Driver.o.Log.Info("registered with the kubelet")
	}
	return &registration.RegistrationStatusResponse{}, nil
}

// intercept logs what fails, and keeps a defect in one request from ending the others.
func (d *Driver) intercept(ctx context.Context, request any, info *grpc.UnaryServerInfo,
	handle grpc.UnaryHandler,
) (answer any, err error) {
	begun := d.o.Now()
	defer func() {
		if p := recover(); p != nil {
			d.o.Log.Error("a defect", slog.String("method", info.FullMethod), slog.String("panic", fmt.Sprint(p)),
				slog.String("stack", string(debug.Stack())))
			err = status.Error(codes.Internal, "a defect of the driver; its log has more")
		}
		if code := status.Code(err); code != codes.OK && code != codes.Unimplemented {
			d.o.Log.Warn("a request failed", slog.String("method", info.FullMethod), slog.String("code", code.String()),
				slog.String("error", fault.Line(status.Convert(err).Message())),
				slog.Duration("took", d.o.Now().Sub(begun)))
		}
	}()
	return handle(ctx, request)
}

// modeSocket lets only the user that runs the driver, and root, connect.
const modeSocket = 0o600

// Listen listens on a unix socket that only its owner may connect to. One that is there from
// an earlier process is replaced; anything else is left alone. Its directory is made.
func Listen(ctx context.Context, path string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fault.New(fault.Unavailable, "cannot make the directory of the socket: %w", err)
	}
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, fault.New(fault.Unavailable, "cannot listen on %s: %w", path, err)
	case info.Mode()&fs.ModeSocket == 0:
		return nil, fault.New(fault.InvalidArgument, "%s is not a socket", path).
			WithHint("choose another --endpoint, or remove the file")
	default:
		if err := os.Remove(path); err != nil {
			return nil, fault.New(fault.Unavailable, "cannot replace the socket %s: %w", path, err)
		}
	}
	// The mode is set before there is a file: nobody can be faster.
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) error {
		var failed error
		err := raw.Control(func(fd uintptr) { failed = unix.Fchmod(int(fd), modeSocket) })
		return errors.Join(err, failed)
	}}
	listener, err := config.Listen(ctx, "unix", path)
	if err == nil {
		err = os.Chmod(path, modeSocket)
	}
	if err != nil {
		return nil, fault.New(fault.Unavailable, "cannot listen on %s: %w", path, err)
	}
	return listener, nil
}

// EndpointPath is the path of an endpoint unix://PATH.
func EndpointPath(endpoint string) (string, error) {
	file, ok := strings.CutPrefix(endpoint, "unix://")
	if !ok || !path.IsAbs(file) || path.Clean(file) == "/" {
		return "", fault.New(fault.InvalidArgument, "the endpoint must be unix:///PATH, got %q", endpoint)
	}
	return path.Clean(file), nil
}

// GetPluginInfo says who this is.
func (d *Driver) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: d.o.Name, VendorVersion: d.o.Version}, nil
}

// GetPluginCapabilities says that volumes belong to a node.
func (d *Driver) GetPluginCapabilities(context.Context,
	*csi.GetPluginCapabilitiesRequest,
) (*csi.GetPluginCapabilitiesResponse, error) {
	return &csi.GetPluginCapabilitiesResponse{Capabilities: []*csi.PluginCapability{{
		Type: &csi.PluginCapability_Service_{Service: &csi.PluginCapability_Service{
			Type: csi.PluginCapability_Service_VOLUME_ACCESSIBILITY_CONSTRAINTS,
		}},
	}}}, nil
}

// Probe says whether the driver can work.
func (d *Driver) Probe(ctx context.Context, _ *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{Ready: wrapperspb.Bool(d.Ready(ctx) == nil)}, nil
}

// TopologyKey is the label of a node that has the driver.
func TopologyKey(driver string) string { return driver + "/node" }

// NodeGetInfo says which node this is.
func (d *Driver) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	return &csi.NodeGetInfoResponse{
		NodeId: d.o.Node, MaxVolumesPerNode: d.o.MaxVolumes,
		AccessibleTopology: &csi.Topology{Segments: map[string]string{TopologyKey(d.o.Name): d.o.Node}},
	}, nil
}

// NodeGetCapabilities offers statistics, and neither staging nor expanding.
func (d *Driver) NodeGetCapabilities(context.Context,
	*csi.NodeGetCapabilitiesRequest,
) (*csi.NodeGetCapabilitiesResponse, error) {
	return &csi.NodeGetCapabilitiesResponse{Capabilities: []*csi.NodeServiceCapability{{
		Type: &csi.NodeServiceCapability_Rpc{Rpc: &csi.NodeServiceCapability_RPC{
			Type: csi.NodeServiceCapability_RPC_GET_VOLUME_STATS,
		}},
	}}}, nil
}

// NodeGetVolumeStats says what the disk of a volume has: all volumes of a node share it.
func (d *Driver) NodeGetVolumeStats(_ context.Context,
	r *csi.NodeGetVolumeStatsRequest,
) (*csi.NodeGetVolumeStatsResponse, error) {
	switch {
	case r.GetVolumeId() == "":
		return nil, invalid("the volume ID is missing")
	case r.GetVolumePath() == "":
		return nil, invalid("the volume path is missing")
	}
	at := path.Clean(r.GetVolumePath())
	record, known := d.queue.Get(r.GetVolumeId())
	if !known || record.Waits() {
		return nil, status.Errorf(codes.NotFound, "volume %s is not published", r.GetVolumeId())
	}
	table, err := d.table()
	if err != nil {
		return nil, internal(err)
	}
	if !table.Is(d.path(record.PodUID, record.ID), at) {
		return nil, status.Errorf(codes.NotFound, "volume %s is not mounted at %s", record.ID, at)
	}
	disk, err := d.dir.Disk()
	if err != nil {
		return nil, internal(err)
	}
	usage := []*csi.VolumeUsage{{
		Unit: csi.VolumeUsage_BYTES, Available: disk.Available, Total: disk.Total,
		Used: disk.Used,
	}}
	if disk.Inodes > 0 {
		usage = append(usage, &csi.VolumeUsage{
			Unit: csi.VolumeUsage_INODES, Available: disk.FreeInodes, Total: disk.Inodes,
			Used: disk.Inodes - disk.FreeInodes,
		})
	}
	return &csi.NodeGetVolumeStatsResponse{Usage: usage}, nil
}
