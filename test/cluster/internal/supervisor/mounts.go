package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// mount arranges the file systems as the plan says. The process must be the
// first of a mount and a process namespace of its own.
func mount(dir string, plan Plan) error {
	// First private, so that nothing done here shows outside; then shared, as
	// pods may ask for volumes with mount propagation.
	for _, propagation := range []uintptr{unix.MS_PRIVATE, unix.MS_SHARED} {
		if err := unix.Mount("", "/", "", unix.MS_REC|propagation, ""); err != nil {
			return fmt.Errorf("change how mounts propagate: %w", err)
		}
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("mount /proc of the new process namespace: %w", err)
	}
	// Where resolv.conf is a link to below /run, its target is about to vanish.
	resolver, err := filepath.EvalSymlinks("/etc/resolv.conf")
	if err != nil {
		return fmt.Errorf("find /etc/resolv.conf, which the cluster replaces for itself: %w", err)
	}
	if err := replace(plan.Private, plan.Keep); err != nil {
		return err
	}
	if err := bindFile(filepath.Join(dir, "resolv.conf"), plan.Resolver, resolver); err != nil {
		return err
	}
	for name, value := range plan.Sysctls {
		target := "/proc/sys/" + name
		if _, err := os.Stat(target); errors.Is(err, fs.ErrNotExist) {
			continue // this kernel does not have it, so nothing writes it
		}
		source := filepath.Join(dir, "sysctl", name)
		if err := bindFile(source, value+"\n", target); err != nil {
			return err
		}
	}
	return nil
}

// replace mounts the private directories, and makes the kept ones visible
// again that were hidden by that. Every mount may hide the source of the next
// one, so all of them are opened first.
func replace(private []Mount, keep []string) error {
	mounts := private
	for _, dir := range keep {
		mounts = append(mounts, Mount{Path: dir, Source: dir})
	}
	sources := make([]int, len(mounts))
	for i, m := range mounts {
		if m.Source == "" {
			continue
		}
		fd, err := unix.Open(m.Source, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("open %s: %w", m.Source, err)
		}
		defer unix.Close(fd) //nolint:gocritic // all are needed until the end, and they are few
		sources[i] = fd
	}
	for i, m := range mounts {
		if err := mountOne(m, sources[i]); err != nil {
			return err
		}
	}
	return nil
}

func mountOne(m Mount, source int) error {
	if m.Source != "" {
		if err := os.MkdirAll(m.Path, 0o755); err != nil {
			return err
		}
		return bind(fmt.Sprintf("/proc/self/fd/%d", source), m.Path)
	}
	if err := unix.Mount("tmpfs", m.Path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755"); err != nil {
		return fmt.Errorf("mount memory on %s: %w", m.Path, err)
	}
	return nil
}

// bindFile writes a file and puts it in the place of another.
func bindFile(source, content, target string) error {
	if err := os.MkdirAll(filepath.Dir(source), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(source, []byte(content), 0o644); err != nil {
		return err
	}
	if _, err := os.Stat(target); errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(target, nil, 0o644); err != nil {
			return err
		}
	}
	return bind(source, target)
}

func bind(source, target string) error {
	if err := unix.Mount(source, target, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("mount %s on %s: %w", source, target, err)
	}
	return nil
}
