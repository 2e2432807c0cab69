//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package trace

import (
	"errors"
	"os"
	"syscall"
)

// syncDir makes a rename in dir last.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil // it may be written to but not read
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
