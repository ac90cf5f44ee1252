//go:build linux

package mounts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// kept are the flags of a mount that mounting it again would take away.
const kept = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC

// Bind mounts a directory at a path, which is a directory.
func Bind(dir, at string, readOnly bool) error {
	if err := unix.Mount(dir, at, "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("cannot mount %s at %s: %w", dir, at, err)
	}
	if !readOnly {
		return nil
	}
	if err := ReadOnly(at); err != nil {
		return errors.Join(err, Unmount(at))
	}
	return nil
}

// ReadOnly keeps what is mounted at a path from being written to by that path.
func ReadOnly(at string) error {
	var s unix.Statfs_t
	if err := unix.Statfs(at, &s); err != nil {
		return fmt.Errorf("cannot read how %s is mounted: %w", at, err)
	}
	flags := uintptr(s.Flags)&kept | unix.MS_BIND | unix.MS_REMOUNT | unix.MS_RDONLY //nolint:gosec // flags
	if err := unix.Mount("", at, "", flags, ""); err != nil {
		return fmt.Errorf("cannot mount %s read-only: %w", at, err)
	}
	return nil
}

// Unmount takes away all that is mounted at a path. A path that is not there, or where nothing is mounted, is fine.
func Unmount(at string) error {
	for {
		switch err := unix.Unmount(at, unix.UMOUNT_NOFOLLOW); {
		case err == nil, errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOENT):
			return nil
		default:
			return fmt.Errorf("cannot unmount %s: %w", at, err)
		}
	}
}

// MakeTarget makes the directory that something is mounted at.
func MakeTarget(at string) error {
	info, err := os.Lstat(at)
	if errors.Is(err, fs.ErrNotExist) {
		return os.MkdirAll(at, 0o750)
	}
	if err == nil && !info.IsDir() {
		return fmt.Errorf("%s is not a directory", at)
	}
	return err
}

// RemoveTarget removes such a directory. One that is gone is fine.
func RemoveTarget(at string) error {
	if err := unix.Rmdir(at); err != nil && !errors.Is(err, unix.ENOENT) {
		return fmt.Errorf("cannot remove %s: %w", at, err)
	}
	return nil
}
