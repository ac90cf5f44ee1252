//go:build linux

package driver

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/berthdev/berth/internal/fault"
)

// modeSocket lets only who runs the driver, and root, connect.
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
	path, ok := strings.CutPrefix(endpoint, "unix://")
	if !ok || !filepath.IsAbs(path) || filepath.Clean(path) == "/" {
		return "", fault.New(fault.InvalidArgument, "the endpoint must be unix:///PATH, got %q", endpoint)
	}
	return filepath.Clean(path), nil
}
