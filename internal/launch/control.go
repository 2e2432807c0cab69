package launch

import (
	"bytes"
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/regular"
	"github.com/heddle-dev/heddle/internal/symbol/elffile"
	"github.com/heddle-dev/heddle/internal/target/live"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/trace"
)

// ControlExt is the usual extension of a control record.
const ControlExt = tracefile.ControlExt

const controlVersion = 2

// ControlRecord is a failure on the backend live, as a file: the program, and what to suspend where.
// docs/live.md describes it.
type ControlRecord struct {
	Heddle  string   `json:"heddle"` // always "control"
	Version int      `json:"version"`
	Command []string `json:"command"`
	Dir     string   `json:"dir"`
	Stdin   []byte   `json:"stdin,omitempty"`
	Expect  int      `json:"expect"`
	// Modules are those that the instructions are in, with their build ids.
	Modules []trace.Module `json:"modules"`
	Control engine.Control `json:"control"`
	// Pattern, Object and Places describe the interleaving: where p, r and c are.
	Pattern string    `json:"pattern"`
	Object  string    `json:"object,omitempty"`
	Places  [3]string `json:"places"`
	Failure string    `json:"failure"`
	// Signature says who wrote it, as for a trace.
	Signature string `json:"signature,omitempty"`
}

// header is the record's program as a trace has it, for its signature.
func (c *ControlRecord) header() trace.Header {
	return trace.Header{Target: "c", Command: c.Command, Dir: c.Dir, Stdin: c.Stdin, Signature: c.Signature}
}

// WriteControl completes a record of the program p and writes it to the first free one of
// PROGRAM.control, PROGRAM.2.control, …, whose name it returns.
func (l *Launcher) WriteControl(c *ControlRecord, p Program) (string, error) {
	dir, err := WorkingDir()
	if err != nil {
		return "", err
	}
	path, err := Executable(p.Words)
	if err != nil {
		return "", err
	}
	c.Heddle, c.Version, c.Command, c.Dir, c.Stdin = "control", controlVersion, p.Words, dir, p.Stdin
	h := c.header()
	l.sign(&h)
	c.Signature = h.Signature
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return "", err
	}
	base := filepath.Base(path)
	for n := 1; ; n++ {
		name := base + ControlExt
		if n > 1 {
			name = fmt.Sprintf("%s.%d%s", base, n, ControlExt)
		}
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("the control record cannot be written: %w", err)
		}
		_, err = f.Write(append(b, '\n'))
		if err = errors.Join(err, f.Close()); err != nil {
			os.Remove(name)
			return "", fmt.Errorf("the control record cannot be written: %w", err)
		}
		return name, nil
	}
}

// ReadControl reads a record.
func ReadControl(name string) (*ControlRecord, error) {
	f, err := regular.Open(name)
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return nil, fmt.Errorf("%s cannot be read: %w", name, path.Err)
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(f); err != nil {
		return nil, err
	}
	d := json.NewDecoder(&b)
	d.DisallowUnknownFields()
	c := &ControlRecord{}
	if err := d.Decode(c); err != nil {
		return nil, fmt.Errorf("%s is not a control record of this heddle: %w", name, err)
	}
	if c.Heddle != "control" || c.Version != controlVersion {
		return nil, fmt.Errorf("%s is version %d of %q, and this heddle reads version %d of control records: force the interleaving again", name, c.Version, c.Heddle, controlVersion)
	}
	if len(c.Command) == 0 {
		return nil, fmt.Errorf("%s names no program", name)
	}
	for _, s := range []trace.Site{c.Control.Target.P, c.Control.Target.C, c.Control.Target.R, c.Control.Target.OuterC, c.Control.Target.OuterR} {
		if s != 0 && s.Module() >= len(c.Modules) {
			return nil, fmt.Errorf("%s names an instruction of a module that it does not list", name)
		}
	}
	return c, nil
}

// StartControl prepares the program of a record for the backend live. It asks the user before it
// runs a record from someone else, and refuses a program that has been built again, in which the
// instructions are elsewhere.
func (l *Launcher) StartControl(ctx context.Context, c *ControlRecord) (*live.Program, error) {
	tr := &trace.Trace{Header: c.header()}
	if err := l.trust(ctx, tr); err != nil {
		return nil, err
	}
	stacks := c.Control.Target.StackC != 0 || c.Control.Target.StackR != 0 // then any module may have a call
	for _, m := range c.Modules {
		if m.BuildID == "" || !stacks && !slices.ContainsFunc(c.sites(), func(s trace.Site) bool { return c.Modules[s.Module()].Path == m.Path }) {
			continue
		}
		f, err := elffile.Read(m.Path, func(*elf.File) {})
		if err != nil {
			return nil, fmt.Errorf("%s cannot be read: %w", m.Path, err)
		}
		if f.BuildID != m.BuildID {
			return nil, fmt.Errorf("%s has been built again since the record was written: force the interleaving again", m.Path)
		}
	}
	p := Program{Words: c.Command, Stdin: c.Stdin}
	return l.live(ctx, p, c.Dir, c.Modules)
}

// sites returns the instructions that a record names.
func (c *ControlRecord) sites() (out []trace.Site) {
	t := &c.Control.Target
	for _, s := range []trace.Site{t.P, t.C, t.R, t.OuterC, t.OuterR} {
		if s != 0 {
			out = append(out, s)
		}
	}
	return out
}
