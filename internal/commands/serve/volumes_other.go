//go:build !linux

package serve

import (
	"context"
	"runtime"

	"github.com/berthdev/berth/internal/fault"
)

// Volumes serves on Linux alone.
func Volumes(context.Context, *VolumesOptions) error {
	return fault.New(fault.InvalidArgument, "scratch volumes are served on Linux only, and this is %s", runtime.GOOS).
		WithHint("run it on the nodes of a cluster: berth serve manifests volumes")
}
