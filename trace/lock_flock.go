//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly

package trace

import (
	"errors"
	"os"
	"syscall"
)

var errLocked = errors.New("locked by another process")

// lock takes an advisory lock on f, which lasts until f is closed or its process ends.
func lock(f *os.File) error {
	err := ignoringEINTR(func() error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) })
	switch {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return errLocked
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, syscall.ENOLCK):
		return nil // a file system without locks: two writers of one name are not detected
	}
	return err
}

// syncDir makes a rename in dir durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return nil // dir may be writable but not readable
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

func ignoringEINTR(f func() error) error {
	for {
		if err := f(); err != syscall.EINTR {
			return err
		}
	}
}
