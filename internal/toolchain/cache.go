package toolchain

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/heddle-dev/heddle/internal/filelock"
)

// CacheDir returns the directory for built runtimes as an absolute path: flag if it is not empty,
// else $HEDDLE_CACHE, else heddle/ in the user's cache directory. It need not exist.
func CacheDir(flag string) (string, error) {
	dir := flag
	if dir == "" {
		dir = os.Getenv("HEDDLE_CACHE")
	}
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("no directory for the runtime is known, because neither HOME nor XDG_CACHE_HOME is set: set HEDDLE_CACHE to a directory")
		}
		dir = filepath.Join(user, "heddle")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("the cache directory has no absolute path, because the working directory no longer exists (%v): set HEDDLE_CACHE to an absolute path", err)
	}
	// LD_PRELOAD ends a name at a space or colon, a run path at a colon or semicolon, and
	// both expand dollar signs.
	if i := strings.IndexAny(dir, " \t\n:;$"); i >= 0 {
		return "", fmt.Errorf("the cache directory %q has %q in its name, which the dynamic loader cannot handle: set HEDDLE_CACHE to another directory", dir, dir[i])
	}
	return dir, nil
}

// cannotWrite returns the error for a cache directory that cannot be written.
func cannotWrite(dir string, err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return fmt.Errorf("the cache directory %s cannot be written (%w): make it writable, or set HEDDLE_CACHE to a directory that is", dir, err)
}

// lock takes an exclusive lock on a file, creating it if needed, and returns the function that
// releases it. The kernel also releases it when the process dies. On a file system without locks it
// returns at once: the first rename wins, and other builders' work is wasted.
func lock(ctx context.Context, path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|syscall.O_CLOEXEC, 0o666)
	if err != nil {
		return nil, err
	}
	for {
		if !errors.Is(filelock.Try(f), filelock.ErrLocked) {
			return func() { f.Close() }, nil
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}
