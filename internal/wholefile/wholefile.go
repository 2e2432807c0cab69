// Package wholefile writes the files that a user names, or finds beside those: whole or not at all, under a name of
// heddle's own that nobody can foresee, which then takes the place of what was there. So a symbolic link is replaced and
// never followed, wherever someone else may write as well, and an interruption leaves the file that was there before.
package wholefile

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// NotReplacedError is returned for a name that something other than a file has: replacing it would break it for others.
type NotReplacedError struct{ Name, What string }

func (e *NotReplacedError) Error() string {
	return fmt.Sprintf("%s is a %s, which heddle does not replace: give the name of a file", e.Name, e.What)
}

// Check returns a NotReplacedError for a name that Write would refuse.
func Check(name string) error {
	info, err := os.Lstat(name)
	if err != nil || IsOutput(name) || name == os.DevNull {
		return nil
	}
	switch mode := info.Mode(); {
	case mode.IsDir():
		return &NotReplacedError{name, "directory"}
	case mode&fs.ModeNamedPipe != 0:
		return &NotReplacedError{name, "pipe"}
	case mode&fs.ModeSocket != 0:
		return &NotReplacedError{name, "socket"}
	case mode&fs.ModeDevice != 0:
		return &NotReplacedError{name, "device"}
	}
	return nil
}

// IsOutput reports whether a name stands for standard output.
func IsOutput(name string) bool {
	switch name {
	case "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1":
		return true
	}
	return false
}

// Write writes a file whole or not at all, with permissions perm less the process's mask. Standard output is written to as it
// is, and what goes to /dev/null is dropped.
func Write(name string, perm fs.FileMode, write func(io.Writer) error) error {
	return replace(name, write, renameio.WithPermissions(perm))
}

// Rewrite is Write for a file that keeps its permissions.
func Rewrite(name string, write func(io.Writer) error) error {
	return replace(name, write, renameio.WithExistingPermissions())
}

// WriteBytes is Write of bytes.
func WriteBytes(name string, perm fs.FileMode, data []byte) error {
	return Write(name, perm, func(w io.Writer) error {
		_, err := io.Copy(w, bytes.NewReader(data))
		return err
	})
}

func replace(name string, write func(io.Writer) error, how renameio.Option) error {
	switch {
	case IsOutput(name):
		return write(os.Stdout)
	case name == os.DevNull:
		return write(io.Discard)
	}
	if err := Check(name); err != nil {
		return err
	}
	// Not in TMPDIR: from there the last step may need a copy.
	file, err := renameio.NewPendingFile(name, renameio.WithTempDir(filepath.Dir(name)), how)
	if err != nil {
		return err
	}
	defer file.Cleanup()
	if err := write(file); err != nil {
		return err
	}
	return file.CloseAtomicallyReplace()
}
