package tracefile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/heddle-dev/heddle/internal/toolchain"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wholefile"
	"github.com/heddle-dev/heddle/trace"
)

// Writer names and writes the traces of a command. A name that the user gave is used as it is, and
// replaces an existing trace. Otherwise Writer takes the first free name of PROGRAM.hdl,
// PROGRAM.2.hdl, … at the moment of writing, so that nothing is replaced and concurrent heddle
// processes do not conflict; a file with the same trace counts as free, and stays. If a search has more findings, all but the first take free names in
// either case.
type Writer struct {
	// Cache is the cache directory as the user named it, Note takes a sentence for the user.
	// The caller sets both.
	Cache string
	Note  func(string)

	name  string
	given bool // by the user
	used  bool // a trace has the given name
}

// NewWriter checks what can be checked before the work is done: given is the argument of -o, name
// the default. more are names that go with a given one.
func NewWriter(given, name string, more ...string) (*Writer, error) {
	f := &Writer{name: name}
	if given != "" {
		f.name, f.given = given, true
		for _, n := range append(more, given) {
			if err := replaceable(n); err != nil {
				return nil, usage.Wrap(err)
			}
		}
	}
	err := writable(f.name)
	if f.given {
		err = usage.Wrap(err)
	}
	return f, err
}

// replaceable returns an error unless a trace may replace the file.
func replaceable(name string) error {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file: choose another name with -o", name)
	case info.Size() == 0:
		return nil
	}
	r, err := trace.Open(name)
	if errors.Is(err, trace.ErrNotTrace) {
		return fmt.Errorf("%s exists and is not a trace: choose another name with -o, or remove it", name)
	}
	if err == nil {
		r.Close()
	}
	return nil
}

// Writable returns a usage.Error unless a file that the user named for output can be written. Commands
// call it before they begin their work.
func Writable(name string) error {
	if wholefile.IsOutput(name) || name == os.DevNull {
		return nil
	}
	return usage.Wrap(cmp.Or(wholefile.Check(name), writable(name)))
}

// writable reports before the search whether its result can be written.
func writable(name string) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".heddle-*")
	if err != nil {
		return fmt.Errorf("cannot write %s (%w): choose another place", name, errors.Unwrap(err))
	}
	f.Close()
	return os.Remove(f.Name())
}

// Keep is engine.Options.Keep. If the trace cannot be written to its place, Keep writes it
// elsewhere and notes where: a finding may have taken hours.
func (f *Writer) Keep(tr *trace.Trace, original string) (string, error) {
	if err := validate(tr); err != nil {
		return "", err
	}
	name := f.name
	var err error
	switch {
	case original != "":
		tr.Header.Original = original
		name = Derived(original, "min")
		if f.given {
			err = trace.WriteFile(name, tr)
		} else { // the file of an earlier search that found the same, which may be simpler, stays
			name, err = writeNumbered(name, tr, func(string) bool { return false })
		}
	case f.given && !f.used:
		f.used = true
		err = trace.WriteFile(name, tr)
	default:
		name, err = writeNumbered(name, tr, simplified)
	}
	if err == nil {
		return name, nil
	}
	for _, dir := range f.elsewhere() {
		there, werr := writeNumbered(filepath.Join(dir, filepath.Base(name)), tr, simplified)
		if werr == nil {
			f.Note(fmt.Sprintf("cannot write %s (%v): the trace is in %s", name, err, there))
			return there, nil
		}
	}
	return "", fmt.Errorf("the trace could not be written, neither here nor in %s: %w", strings.Join(f.elsewhere(), " or "), err)
}

// KeepPassing writes an execution that does not fail beside the trace file of one that does, and returns its name.
func (f *Writer) KeepPassing(passing *trace.Trace, file string) (string, error) {
	if err := validate(passing); err != nil {
		return "", err
	}
	name := Derived(file, "pass")
	if f.given {
		if err := replaceable(name); err != nil {
			return "", err
		}
		return name, trace.WriteFile(name, passing)
	}
	return writeNumbered(name, passing, func(string) bool { return false })
}

// elsewhere returns directories for a trace that cannot be written to its place.
func (f *Writer) elsewhere() []string {
	// Not a directory that others may write to, where they could foresee the name.
	var dirs []string
	if cache, err := toolchain.CacheDir(f.Cache); err == nil {
		dirs = append(dirs, cache)
	}
	if home, err := os.UserHomeDir(); err == nil {
		dirs = append(dirs, home)
	}
	return dirs
}

// writeNumbered writes a trace under the first name that is free and not taken, or has the same trace already.
func writeNumbered(name string, tr *trace.Trace, taken func(name string) bool) (string, error) {
	for n := 1; ; n++ {
		try := numbered(name, n)
		if !taken(try) {
			if err := trace.WriteNew(try, tr); !errors.Is(err, fs.ErrExist) {
				return try, err
			}
		}
		if identical(try, tr) {
			return try, nil
		}
	}
}

// simplified reports whether there is a simplified trace of the trace of that name.
func simplified(name string) bool {
	_, err := os.Lstat(Derived(name, "min"))
	return err == nil
}

// identical reports whether a file has just this trace, explained or not: the same command has written it before. Of an execution
// that does not fail, it does not matter which memory instructions could have been scheduling points besides those that were, nor which
// environment it had.
func identical(name string, tr *trace.Trace) bool {
	there, err := trace.ReadFile(name)
	if err != nil {
		return false
	}
	var one, two bytes.Buffer
	plain := *tr
	there.Explanation, plain.Explanation = nil, nil
	if !tr.Ending.Kind.Failed() {
		for _, h := range []*trace.Header{&there.Header, &plain.Header} {
			h.Points, h.EnvDigest, h.Surroundings = nil, "", nil
		}
	}
	return trace.Encode(&one, there) == nil && trace.Encode(&two, &plain) == nil && bytes.Equal(one.Bytes(), two.Bytes())
}

// numbered returns the n-th name: prog.hdl, prog.2.hdl, …
func numbered(name string, n int) string {
	if n == 1 {
		return name
	}
	base, suffix := strings.CutSuffix(name, ".hdl")
	name = fmt.Sprintf("%s.%d", base, n)
	if suffix {
		name += ".hdl"
	}
	return name
}
