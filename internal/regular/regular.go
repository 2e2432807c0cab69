// Package regular opens files whose names come from elsewhere: from a trace, from debug
// information, from a command line. Such a name may be that of a FIFO, which would block until
// another process writes, or of a device, which may never end or may act when it is opened.
package regular

import (
	"debug/elf"
	"errors"
	"io/fs"
	"os"
)

// ErrNotRegular is in the errors of Open for what is not a regular file.
var ErrNotRegular = errors.New("not a regular file")

// Open opens a regular file for reading and never blocks on anything else. Its errors are
// *fs.PathErrors.
func Open(path string) (*os.File, error) {
	// Not opened at all if it can be helped.
	if info, err := os.Stat(path); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	f, err := open(path)
	if err != nil {
		return nil, err
	}
	// It may be another one now.
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		if err == nil {
			err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
		}
		return nil, err
	}
	return f, nil
}

// ELF is an ELF file that is open.
type ELF struct {
	*elf.File
	file *os.File
}

// Close closes the file.
func (e *ELF) Close() error { return e.file.Close() }

// OpenELF is elf.Open for regular files. Its errors are those of Open and elf.NewFile.
func OpenELF(path string) (*ELF, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	e, err := elf.NewFile(f)
	if err != nil {
		f.Close()
		return nil, err
	}
	return &ELF{e, f}, nil
}
