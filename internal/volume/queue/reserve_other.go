//go:build !linux

package queue

import "os"

func reserved(name string, flag int, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, mode)
}
