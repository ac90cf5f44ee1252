package queue

import (
	"os"

	"golang.org/x/sys/unix"
)

// reserve is how much of the disk the database has for itself, so that a full disk does not
// keep volumes from being recorded or removed: 10,000 records take a third of it.
const reserve = 16 << 20

// reserved opens the file of the database and takes its space from the disk. Where that is
// not possible the database grows as it needs.
func reserved(name string, flag int, mode os.FileMode) (*os.File, error) {
	file, err := os.OpenFile(name, flag, mode)
	if err == nil && flag&(os.O_RDWR|os.O_WRONLY) != 0 {
		_ = unix.Fallocate(int(file.Fd()), unix.FALLOC_FL_KEEP_SIZE, 0, reserve)
	}
	return file, err
}
