//go:build linux

package driver

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"runtime/debug"
	"sync/atomic"
	"time"

	csi "github.com/container-storage-interface/spec/lib/go/csi"
	"golang.org/x/sync/errgroup"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
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

// stopTimeout is how long requests may take when the driver ends; the kubelet repeats
// those that are cut off.
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
	serve(registry, func(server *grpc.Server) { registration.RegisterRegistrationServer(server, &registrar{server: s}) })
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
		r.server.Driver.o.Log.Error("the kubelet has refused the driver", slog.String("error", fault.Line(s.GetError())))
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
				slog.String("error", fault.Line(status.Convert(err).Message())), slog.Duration("took", d.o.Now().Sub(begun)))
		}
	}()
	return handle(ctx, request)
}
