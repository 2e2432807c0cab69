//go:build unix

package regular

import (
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// open does not wait for the other end of a FIFO, nor take a terminal.
func open(path string) (*os.File, error) {
	for {
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
		if err == unix.EINTR {
			continue
		}
		if err == nil {
			if err = unix.SetNonblock(fd, false); err != nil {
				unix.Close(fd)
			}
		}
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		return os.NewFile(uintptr(fd), path), nil
	}
}
