package admin

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/berthdev/berth/internal/fault"
)

// probeTime is how long a socket that is there may take to be connected to.
const probeTime = time.Second

// Listen listens on a socket that only its owner can connect to, in a directory that is
// made if it is missing. A socket that a killed process has left is replaced.
func Listen(ctx context.Context, path string) (net.Listener, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fault.New(fault.Failed, "cannot listen on %s: %w", path, err)
	}
	if err := removeStale(ctx, path); err != nil {
		return nil, err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", path)
	if err != nil {
		return nil, fault.New(fault.Failed, "cannot listen on %s: %w", path, err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, fault.New(fault.Failed, "cannot close %s to others: %w", path, err)
	}
	return l, nil
}

// removeStale removes a socket on which nobody listens, and nothing else.
func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fault.New(fault.Failed, "cannot listen on %s: %w", path, err)
	case info.Mode()&fs.ModeSocket == 0:
		return fault.New(fault.Failed, "%s is there and is not a socket", path).WithHint("remove it, or choose another directory")
	}
	dialer := net.Dialer{Timeout: probeTime}
	if conn, err := dialer.DialContext(ctx, "unix", path); err == nil {
		conn.Close()
		return fault.New(fault.Conflict, "another process listens on %s", path).WithHint("stop it: one driver at a time works in a directory")
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.Failed, "cannot listen on %s: %w", path, err)
	}
	return nil
}
