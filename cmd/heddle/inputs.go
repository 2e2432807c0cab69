package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/heddle-dev/heddle/internal/rapid"
	"github.com/heddle-dev/heddle/internal/regular"
	"github.com/heddle-dev/heddle/internal/simplify/stmt"
	"github.com/heddle-dev/heddle/trace"
)

// A format of traces, told by the name's suffix.
type format uint8

const (
	formatHeddle     format = iota // .hdl, and every other name
	formatSTD                      // .std, .std.gz: RAPID's
	formatText                     // .txt: the text form of heddle's
	formatStatements               // .stmt: the language of El-Zawawy and Alanazi
)

func formatOf(name string) format {
	f, _ := formatNamed(name)
	return f
}

// formatNamed is formatOf, and whether the suffix is one that heddle knows.
func formatNamed(name string) (f format, known bool) {
	switch {
	case strings.HasSuffix(name, ".std"), strings.HasSuffix(name, ".std.gz"):
		return formatSTD, true
	case strings.HasSuffix(name, ".txt"):
		return formatText, true
	case strings.HasSuffix(name, ".stmt"):
		return formatStatements, true
	}
	return formatHeddle, strings.HasSuffix(name, ".hdl")
}

// input is a trace in any format but statements.
type input struct {
	trace *trace.Trace
	names *rapid.Names // of an STD trace
	lost  []rapid.Loss
}

func readAny(name string) (input, error) {
	f := formatOf(name)
	if f == formatHeddle {
		tr, err := readTrace(name)
		return input{trace: tr}, err
	}
	file, err := regular.Open(name)
	if err != nil {
		return input{}, err
	}
	defer file.Close()
	switch f {
	case formatSTD:
		r, err := rapid.Read(file, name)
		if err != nil {
			return input{}, fmt.Errorf("%s: %w", name, err)
		}
		return input{r.Trace, r.Names, r.Lost}, nil
	case formatText:
		tr, err := trace.ParseText(file)
		if err == nil {
			err = trace.Validate(tr)
		}
		if err != nil {
			return input{}, fmt.Errorf("%s: %w", name, err)
		}
		return input{trace: tr}, nil
	}
	return input{}, fmt.Errorf("%s holds statements, which only simplify --static and check derivation read", name)
}

// readStatements reads a trace as statements, from any format.
func readStatements(name string) (*stmt.Trace, error) {
	if formatOf(name) != formatStatements {
		in, err := readAny(name)
		if err != nil {
			return nil, err
		}
		return stmt.FromTrace(in.trace), nil
	}
	file, err := regular.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	t, err := stmt.Parse(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return t, nil
}

// writeAny writes a trace in the format of the name. It returns what that cannot say.
func writeAny(name string, in input) ([]rapid.Loss, error) {
	f := formatOf(name)
	switch f {
	case formatHeddle:
		return nil, trace.WriteFile(name, in.trace)
	case formatStatements:
		return nil, errors.New("statements are read and not written: choose a name that ends in .hdl, .std, .std.gz or .txt")
	}
	var lost []rapid.Loss
	err := writeWhole(name, func(w io.Writer) error {
		if f == formatText {
			return trace.WriteText(w, in.trace)
		}
		written, err := rapid.Write(w, in.trace, rapid.Options{Gzip: strings.HasSuffix(name, ".gz"), Names: in.names})
		if err == nil {
			lost = written.Lost
		}
		return err
	})
	return lost, err
}

// writeWhole writes a file whole or not at all, as trace files are.
func writeWhole(name string, write func(io.Writer) error) error {
	tmp := name + ".incomplete"
	file, err := os.Create(tmp)
	if err != nil {
		return err
	}
	err = write(file)
	if cerr := file.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp, name)
	}
	if err != nil {
		os.Remove(tmp)
		return fmt.Errorf("cannot write %s: %w", name, err)
	}
	return nil
}
