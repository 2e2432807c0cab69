package trace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/heddle-dev/heddle/internal/filelock"
)

// Writer writes a trace file. Until Close the name ends in ".incomplete", so that a file with the
// name given is always a complete trace, even after an error, a full disk or a kill. Writer adds
// the methods of Encoder.
type Writer struct {
	*Encoder
	f     *os.File
	name  string
	fresh bool // a file with the name is an error
}

// NewWriter creates the trace file name. It overwrites what an interrupted writer left under the
// incomplete name; a writer still active on the same name is an error. Close replaces an existing
// file of the name.
func NewWriter(name string) (*Writer, error) {
	if fi, err := os.Lstat(name); err == nil && !fi.Mode().IsRegular() && fi.Mode()&fs.ModeSymlink == 0 {
		return nil, fmt.Errorf("%s is not a regular file: give the trace another name", name)
	}
	f, err := createLocked(name + IncompleteExt)
	if err != nil {
		return nil, err
	}
	w := &Writer{f: f, name: name}
	if w.Encoder, err = NewEncoder(f); err != nil {
		os.Remove(f.Name())
		f.Close()
		return nil, w.explain(err)
	}
	return w, nil
}

// createLocked creates an empty file and locks it as long as it is open.
func createLocked(name string) (*os.File, error) {
	// The previous owner of the lock may have renamed the file between open and lock: then the file
	// is a complete trace and must not be truncated. Look again.
	for range 10 {
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o666)
		if errors.Is(err, syscall.ELOOP) {
			return nil, fmt.Errorf("%s is a symbolic link, which heddle does not follow: remove it, or choose another name", name)
		}
		if err != nil {
			return nil, err
		}
		if err := filelock.Try(f); err != nil {
			f.Close()
			if errors.Is(err, filelock.ErrLocked) {
				return nil, fmt.Errorf("%s: %w: wait for it, or choose another name", name, ErrBusy)
			}
			return nil, fmt.Errorf("%s: cannot lock it: %w", name, err)
		}
		mine, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, err
		}
		if done, err := os.Stat(strings.TrimSuffix(name, IncompleteExt)); err == nil && os.SameFile(mine, done) {
			// A writer was killed after giving the file its name and before removing this one.
			os.Remove(name)
			f.Close()
			continue
		}
		if now, err := os.Stat(name); err == nil && os.SameFile(mine, now) {
			if err := f.Truncate(0); err != nil {
				f.Close()
				return nil, err
			}
			return f, nil
		}
		f.Close()
	}
	return nil, fmt.Errorf("%s: other heddles keep writing this trace: choose another name", name)
}

// Close writes how the execution ended, syncs the file to disk and gives it its name. After an
// error no truncated file has the name; what could be written stays under the incomplete name, for
// ReadPrefix. A second call does nothing and returns the first error, if any.
func (w *Writer) Close(ending Ending) error {
	if w.f == nil {
		return w.Encoder.err
	}
	err := w.finish(ending)
	if cerr := w.f.Close(); err == nil && cerr != nil {
		err = w.fail(w.explain(cerr))
	}
	w.f = nil
	return err
}

// finish is Close up to closing the file, which releases the lock.
func (w *Writer) finish(ending Ending) error {
	err := w.Encoder.Close(ending)
	if err == nil {
		err = w.f.Sync()
	}
	if err == nil {
		err = w.rename()
	}
	if err == nil {
		err = syncDir(filepath.Dir(w.name))
	}
	if err != nil {
		// Encoder.Close has recorded its error; add the file's name.
		w.Encoder.err = w.explain(err)
		return w.Encoder.err
	}
	return nil
}

// rename gives the file its name; with fresh, only if no file has it. The lock on the incomplete
// name excludes other writers, link(2) everything else. Without links in the file system, it checks
// for the file first.
func (w *Writer) rename() error {
	if !w.fresh {
		return os.Rename(w.f.Name(), w.name)
	}
	err := os.Link(w.f.Name(), w.name)
	switch {
	case err == nil:
		return os.Remove(w.f.Name())
	case errors.Is(err, fs.ErrExist):
		return err
	}
	if _, err := os.Lstat(w.name); err == nil {
		return fs.ErrExist
	}
	return os.Rename(w.f.Name(), w.name)
}

// Discard abandons the trace and removes what was written. After Close it does nothing.
func (w *Writer) Discard() error {
	if w.f == nil {
		return nil
	}
	err := os.Remove(w.f.Name())
	if cerr := w.f.Close(); err == nil {
		err = cerr
	}
	w.f = nil
	w.fail(fmt.Errorf("%s: the trace was discarded", w.name))
	return err
}

// explain adds to an error what it means for the file.
func (w *Writer) explain(err error) error {
	return fmt.Errorf("%s: the trace was not written: %w", w.name, err)
}

// WriteFile writes t to the file name. After an error no file of the name or of the incomplete name
// was added; an existing file stays.
func WriteFile(name string, t *Trace) error {
	w, err := NewWriter(name)
	if err != nil {
		return err
	}
	return w.write(t)
}

// WriteNew is WriteFile for a name that no file has yet. If one has, or another writer is active on
// the name, the error is fs.ErrExist and nothing changes: of any number of concurrent writers of
// one name exactly one succeeds.
func WriteNew(name string, t *Trace) error {
	if _, err := os.Lstat(name); err == nil {
		return &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	w, err := NewWriter(name)
	if errors.Is(err, ErrBusy) {
		return &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	if err != nil {
		return err
	}
	w.fresh = true
	return w.write(t)
}

// write writes the whole of t, or nothing.
func (w *Writer) write(t *Trace) error {
	err := w.content(t)
	if err != nil {
		err = w.explain(err)
	} else {
		err = w.finish(t.Ending)
	}
	if err != nil {
		w.Discard()
		return err
	}
	return w.f.Close()
}
