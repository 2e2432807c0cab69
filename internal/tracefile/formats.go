// Package tracefile reads and writes trace files: in all formats, determined by their names, and
// under the names that heddle gives them.
package tracefile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/internal/rapid"
	"github.com/heddle-dev/heddle/internal/regular"
	"github.com/heddle-dev/heddle/internal/simplify/stmt"
	"github.com/heddle-dev/heddle/internal/wholefile"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// Format is a trace format, determined by the name's suffix.
type Format uint8

const (
	Heddle     Format = iota // .hdl, and every other name
	STD                      // .std, .std.gz: RAPID's
	Text                     // .txt: the text form of heddle's
	Statements               // .stmt: the language of El-Zawawy and Alanazi
	Perfetto                 // .pftrace: Perfetto's, for its user interface; written only
	ShiViz                   // .shiviz: a log for ShiViz; written only
)

// FormatOf returns the format of a file by its name.
func FormatOf(name string) Format {
	f, _ := FormatNamed(name)
	return f
}

// FormatNamed is FormatOf, and also reports whether heddle knows the suffix.
func FormatNamed(name string) (f Format, known bool) {
	switch {
	case strings.HasSuffix(name, ".std"), strings.HasSuffix(name, ".std.gz"):
		return STD, true
	case strings.HasSuffix(name, ".txt"):
		return Text, true
	case strings.HasSuffix(name, ".stmt"):
		return Statements, true
	case strings.HasSuffix(name, ".pftrace"):
		return Perfetto, true
	case strings.HasSuffix(name, ".shiviz"):
		return ShiViz, true
	}
	return Heddle, strings.HasSuffix(name, ".hdl")
}

// Input is a trace in any format: of events, or of statements.
type Input struct {
	Trace      *trace.Trace // nil for statements
	Statements *stmt.Trace  // nil for events
	Names      *rapid.Names // of an STD trace
	Lost       []rapid.Loss
}

// ReadAny reads a trace in the format that its name implies.
func ReadAny(name string) (Input, error) {
	f := FormatOf(name)
	switch f {
	case Heddle:
		tr, err := Read(name)
		return Input{Trace: tr}, err
	case Perfetto, ShiViz:
		return Input{}, fmt.Errorf("heddle writes %s files and cannot read them: keep the trace that it was made from", filepath.Ext(name))
	}
	file, err := regular.Open(name)
	var path *fs.PathError
	if errors.As(err, &path) {
		return Input{}, fmt.Errorf("cannot read %s: %w", name, path.Err)
	}
	if err != nil {
		return Input{}, err
	}
	defer file.Close()
	in, err := read(file, name, f)
	if err != nil {
		return Input{}, fmt.Errorf("%s: %w", name, err)
	}
	return in, nil
}

func read(file io.Reader, name string, f Format) (Input, error) {
	if f == STD {
		r, err := rapid.Read(file, name)
		if err != nil {
			return Input{}, err
		}
		return Input{Trace: r.Trace, Names: r.Names, Lost: r.Lost}, nil
	}
	text := bufio.NewReader(file)
	if f == Text {
		begin, err := text.Peek(text.Size())
		if err != nil && err != io.EOF {
			return Input{}, err
		}
		if stmt.Begins(begin) {
			f = Statements
		}
	}
	if f == Statements {
		t, err := stmt.Parse(text)
		return Input{Statements: t}, err
	}
	tr, err := trace.ParseText(text)
	if err == nil {
		err = trace.Validate(tr)
	}
	return Input{Trace: tr}, err
}

// Units returns the trace as statements: its own, or those that its events are.
func (in Input) Units() *stmt.Trace {
	if in.Statements != nil {
		return in.Statements
	}
	return stmt.FromTrace(in.Trace)
}

// Len returns the number of events, or of units of statements.
func (in Input) Len() int {
	if in.Statements != nil {
		return in.Statements.Len()
	}
	return len(in.Trace.Events)
}

// Graph returns the dependence graph of the trace. Its nodes are the units of Units.
func (in Input) Graph() *depend.Graph {
	if in.Statements != nil {
		return stmt.Graph(in.Statements)
	}
	return depend.Build(in.Trace)
}

// Takes returns an error unless WriteAny can write the trace to a file of that name: events cannot be made
// of statements, and Perfetto's and ShiViz' formats need the names of a view.
func (in Input) Takes(name string) error {
	f := FormatOf(name)
	switch {
	case in.Statements != nil && f != Statements && f != Text:
		return fmt.Errorf("statements cannot be written to %s: choose a name that ends in .stmt or .txt", name)
	case f == Perfetto, f == ShiViz:
		return fmt.Errorf("only heddle convert writes %s files: choose a name that ends in .hdl, .std, .std.gz, .txt or .stmt", filepath.Ext(name))
	}
	return nil
}

// WriteAny writes a trace in the format that the name implies; see Takes. It returns what that format
// cannot express.
func WriteAny(name string, in Input) ([]rapid.Loss, error) {
	if err := in.Takes(name); err != nil {
		return nil, err
	}
	f := FormatOf(name)
	switch {
	case f == Heddle:
		return in.Names.Lost(), Write(name, in.Trace)
	case f == Statements, in.Statements != nil:
		units := in.Units()
		return in.unstated(), WriteUnits(name, units, units.Recorded())
	}
	var lost []rapid.Loss
	err := WriteWhole(name, func(w io.Writer) error {
		if f == Text {
			lost = in.Names.Lost()
			return trace.WriteText(w, in.Trace)
		}
		written, err := rapid.Write(w, in.Trace, rapid.Options{Gzip: strings.HasSuffix(name, ".gz"), Names: in.Names})
		if err == nil {
			lost = written.Lost
		}
		return err
	})
	return lost, err
}

// WriteUnits writes statements in an order.
func WriteUnits(name string, t *stmt.Trace, order []int32) error {
	return WriteWhole(name, func(w io.Writer) error { return t.Write(w, order) })
}

// unstated is what statements do not say of events.
func (in Input) unstated() []rapid.Loss {
	if in.Trace == nil || len(in.Trace.Events) == 0 {
		return nil
	}
	return []rapid.Loss{{What: "events with their values, places in the code and call stacks: only what depends on each other is written", Count: len(in.Trace.Events)}}
}

// WriteWhole writes a file completely or not at all, like trace files.
func WriteWhole(name string, write func(io.Writer) error) error {
	if err := wholefile.Write(name, 0o666, write); err != nil {
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	return nil
}

// Write writes a heddle trace file that Read accepts, or returns an error and writes nothing.
func Write(name string, tr *trace.Trace) error {
	if err := validate(tr); err != nil {
		return err
	}
	return trace.WriteFile(name, tr)
}

// validate returns an error for a trace that Read would reject. Every trace is checked before it is
// written: later, the execution could not be recorded again.
func validate(tr *trace.Trace) error {
	if err := trace.Validate(tr); err != nil {
		return fmt.Errorf("the trace was not written, which is a bug in heddle: %w", err)
	}
	return nil
}

// Read reads a heddle trace file and validates it.
func Read(name string) (*trace.Trace, error) { return ReadWithin(context.Background(), name) }

// ReadWithin is Read until the context ends, whose error it then returns.
func ReadWithin(ctx context.Context, name string) (*trace.Trace, error) {
	tr, err := trace.ReadFile(name, trace.Within(ctx))
	if err != nil {
		return nil, Explained(name, err)
	}
	if err := trace.Validate(tr); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return tr, nil
}

// ControlExt is the suffix of a control record of the backend live.
const ControlExt = ".control"

// Explained returns an error of trace.ReadFile or trace.Open with what to do about it.
func Explained(name string, err error) error {
	var path *fs.PathError
	switch f := FormatOf(name); {
	case errors.Is(err, trace.ErrNotTrace) && (f == Text || f == STD):
		return fmt.Errorf("%s is a trace in another format: turn it into heddle's with heddle convert %s %s",
			name, wording.Quoted(name), wording.Quoted(stem(name)+".hdl"))
	case errors.Is(err, trace.ErrNotTrace) && strings.HasSuffix(name, ControlExt):
		return fmt.Errorf("%s is a control record of threads in parallel, not a trace: heddle replay %s repeats its executions, and heddle find records an exact trace", name, wording.Quoted(name))
	case errors.As(err, &path) && err == error(path):
		return fmt.Errorf("cannot read %s: %w", name, path.Err)
	}
	return err
}

// stem returns a trace's name without the suffix of its format.
func stem(name string) string {
	name = strings.TrimSuffix(name, ".gz")
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// Is reports whether a file exists and begins as heddle's trace files do.
func Is(name string) bool {
	r, err := trace.Open(name)
	if err == nil {
		r.Close()
	}
	return err == nil || !errors.Is(err, trace.ErrNotTrace) && !errors.Is(err, fs.ErrNotExist)
}
