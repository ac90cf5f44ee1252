package serve

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/berthdev/berth/internal/commands/cmdutil"
	"github.com/berthdev/berth/internal/serve"
	"github.com/berthdev/berth/internal/volume/admin"
	"github.com/berthdev/berth/internal/volume/driver"
	"github.com/berthdev/berth/internal/volume/read/server"
)

// Volumes serves until it is told to stop.
func Volumes(ctx context.Context, o *VolumesOptions) (err error) {
	socket, err := driver.EndpointPath(cmp.Or(o.Endpoint, driver.Endpoint(o.Kubelet, o.Driver)))
	if err != nil {
		return err
	}
	// A directory of a volume has its mode from the start. Everything else that is made says whose it is.
	syscall.Umask(0)
	log := serve.NewLog(o.IO.Err, o.IO.Err.TTY, 0)
	work, err := driver.New(driver.Options{
		Name: o.Driver, Version: cmp.Or(cmdutil.Version().Version, "unknown"), Node: o.Node, Directory: o.Directory,
		Afterlife: o.Afterlife, PruneInterval: o.PruneInterval, Headroom: o.Headroom, MaxVolumes: o.MaxVolumes,
		MaxQueued: o.MaxQueued, Log: log, Now: time.Now,
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, work.Close()) }()
	administrators, err := driver.Listen(ctx, admin.Path(o.Directory))
	if err != nil {
		return err
	}
	defer administrators.Close()
	server := &driver.Server{Driver: work, Path: socket, Kubelet: o.Kubelet}
	metrics, health := serve.NewMetrics(), &serve.Health{}
	count(metrics, work)
	health.Check("disk", work.Ready)
	health.Check("kubelet", server.Registered)
	log.Info("scratch volumes", slog.String("driver", o.Driver), slog.String("node", o.Node),
		slog.String("directory", o.Directory),
		slog.String("afterlife", o.Afterlife.String()), slog.Float64("headroom", o.Headroom))
	readers, authorities, err := o.readers(ctx, work, log)
	if err != nil {
		return err
	}
	return serve.Role(serve.WithLog(ctx, log), serve.Config{
		Listen: o.ReadListen, ListenFlag: "--" + flagReadListen, Handler: readers,
		ClientCertificates: authorities != nil,
		MetricsListen:      o.MetricsListen, Cert: o.Cert, Key: o.Key, Health: health, Metrics: metrics,
		Log: log, Now: time.Now, Timeouts: serve.DefaultTimeouts(),
	}, func(ctx context.Context) error {
		group, ctx := errgroup.WithContext(ctx)
		group.Go(func() error { return server.Serve(ctx) })
		group.Go(func() error { work.Run(ctx); return nil })
		group.Go(func() error {
			return admin.Serve(ctx, administrators,
				admin.Config{Node: work, Now: time.Now, Audit: func(a admin.Audited) { a.Log(log) }})
		})
		return group.Wait()
	})
}

// readers answers users who read what their pods have left; nil if none may.
func (o *VolumesOptions) readers(ctx context.Context, work *driver.Driver, log *slog.Logger) (http.Handler,
	*serve.ClientCA, error,
) {
	if o.ReadListen == "" {
		return nil, nil, nil
	}
	client, err := cmdutil.Await(ctx, o.Client)
	if err != nil {
		return nil, nil, err
	}
	authorities, err := clientCA(o.ClientCA, log)
	if err != nil {
		return nil, nil, err
	}
	limits := server.Limits()
	return (&server.Server{Node: work, Guard: &serve.Guard{
		Authenticator: authenticator(ctx, client, limits),
		Authorizer:    serve.NewAuthorizer(client.AuthorizationV1(), time.Now).For(readFor),
		ClientCA:      authorities, Limits: serve.NewLimiter(limits, time.Now), Log: log, Now: time.Now,
	}}).Handler(), authorities, nil
}

// readFor is how long it is believed that somebody may read a volume.
const readFor = 30 * time.Second

// count shows what there is in the metrics.
func count(metrics *serve.Metrics, work *driver.Driver) {
	show := func(name, help string, value func(driver.Status) float64) {
		metrics.Gauge(name, help, func() float64 { return value(work.Status()) })
	}
	show("berth_scratch_volumes_used", "Scratch volumes that pods use.",
		func(s driver.Status) float64 { return float64(s.Used) })
	show("berth_scratch_volumes_queued", "Scratch volumes in their afterlife.",
		func(s driver.Status) float64 { return float64(s.Waiting) })
	show("berth_scratch_volumes_queued_bytes", "What those take on the disk, as far as it is measured.",
		func(s driver.Status) float64 { return float64(s.Bytes) })
	show("berth_scratch_pressure_factor", "By how much pressure shortens every afterlife: 1 without pressure.",
		func(s driver.Status) float64 { return s.Factor })
	metrics.Counter("berth_scratch_volumes_removed_total", "Scratch volumes whose data was removed.",
		func() float64 { return float64(work.Status().Removed) })
}
