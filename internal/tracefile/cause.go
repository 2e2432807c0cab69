package tracefile

import (
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/wholefile"
	"github.com/heddle-dev/heddle/trace"
)

// Rewritable reports whether the file of a trace may be written and has that trace still. A file that is not is left alone: an
// explanation that is not there is found again.
func Rewritable(file string, t *trace.Trace) bool {
	info, err := os.Lstat(file) // what a link leads to is not heddle's to write
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o200 == 0 || !identical(file, t) {
		return false
	}
	f, err := os.OpenFile(file, os.O_WRONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	f.Close()
	return true
}

// SaveCause makes e the explanation of a trace, found by the version of heddle that is given. If write is set, it writes the trace with its
// explanation to the file.
func SaveCause(file string, t *trace.Trace, e *report.Explanation, heddle string, write bool) {
	out := *e
	if out.Passing != "" {
		out.Passing = relative(filepath.Dir(file), out.Passing)
	}
	if out.Save(t, heddle); t.Explanation == nil || !write {
		return
	}
	_ = wholefile.Rewrite(file, func(w io.Writer) error { return trace.Encode(w, t) })
}

// SavedCause returns the explanation that a heddle of a version has saved in a trace read from a file; nil if it has none.
// Explanation.Passing is empty if that file is gone.
func SavedCause(file string, t *trace.Trace, heddle string) *report.Explanation {
	e := report.SavedBy(t, heddle)
	if e == nil || e.Passing == "" {
		return e
	}
	if !filepath.IsAbs(e.Passing) {
		e.Passing = filepath.Join(filepath.Dir(file), e.Passing)
	}
	if !Is(e.Passing) {
		e.Passing = ""
	}
	return e
}

// relative returns the name of a file relative to a directory, or absolute if that cannot be.
func relative(dir, name string) string {
	full, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	if dir, err = filepath.Abs(dir); err == nil {
		if rel, err := filepath.Rel(dir, full); err == nil && filepath.IsLocal(rel) {
			return rel
		}
	}
	return full
}
