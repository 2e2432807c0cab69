package stmt

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// derivationVersion is the version of the text form.
const derivationVersion = 1

// The text form has one line per item:
//
//	heddle derivation 1
//	trace units 14 statements 20 sha256 9f…
//	segments 0 3 4 9
//	round binary
//	base2 2 4 up 7 1
//	S 0 4 down 3 2
//	round line
//	line 0 3 5 1 after 2
//	result switches 9 4 sha256 1c… seal 5a…
//
// A step has its range of TEIs, the first unit moved and the number of units moved.

// Write writes a derivation.
func (d *Derivation) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "heddle derivation %d\n", derivationVersion)
	fmt.Fprintf(out, "trace units %d statements %d sha256 %x\n", d.Units, d.Statements, d.Trace)
	for part := range slices.Chunk(d.Segments, 32) {
		out.WriteString("segments")
		for _, s := range part {
			out.WriteByte(' ')
			out.WriteString(strconv.Itoa(int(s)))
		}
		out.WriteByte('\n')
	}
	for _, r := range d.Rounds {
		fmt.Fprintf(out, "round %s\n", r.Shape)
		for _, s := range r.Steps {
			switch {
			case s.Rule == Line:
				fmt.Fprintf(out, "%s %d %d %d %d after %d\n", s.Rule, s.Lo, s.Hi, s.Unit, s.Count, s.After)
			case s.Down:
				fmt.Fprintf(out, "%s %d %d down %d %d\n", s.Rule, s.Lo, s.Hi, s.Unit, s.Count)
			default:
				fmt.Fprintf(out, "%s %d %d up %d %d\n", s.Rule, s.Lo, s.Hi, s.Unit, s.Count)
			}
		}
	}
	fmt.Fprintf(out, "result switches %d %d sha256 %x seal %x\n", d.Before, d.After, d.Result, d.Seal)
	return out.Flush()
}

// DerivationError is a line of a derivation that could not be read.
type DerivationError struct {
	Line int // from 1
	Msg  string
}

func (e *DerivationError) Error() string {
	return fmt.Sprintf("derivation, line %d: %s", e.Line, e.Msg)
}

// ReadDerivation reads a derivation. The error is a *DerivationError unless reading itself failed.
func ReadDerivation(r io.Reader) (*Derivation, error) {
	d := &Derivation{}
	p := &derivationReader{d: d}
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		p.line++
		if err := p.read(strings.Fields(in.Text())); err != nil {
			return nil, err
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("read the derivation: %w", err)
	}
	if !p.ended {
		return nil, p.fail("it ends before the line \"result\"")
	}
	return d, nil
}

type derivationReader struct {
	d      *Derivation
	line   int
	headed bool
	traced bool
	ended  bool
}

func (p *derivationReader) fail(format string, args ...any) error {
	return &DerivationError{p.line, fmt.Sprintf(format, args...)}
}

func (p *derivationReader) read(f []string) error {
	d := p.d
	switch {
	case len(f) == 0:
		return p.fail("an empty line")
	case p.ended:
		return p.fail("there is more after the line \"result\"")
	case !p.headed:
		if len(f) != 3 || f[0] != "heddle" || f[1] != "derivation" {
			return p.fail("not a derivation: the first line of one is \"heddle derivation %d\"", derivationVersion)
		}
		if f[2] != strconv.Itoa(derivationVersion) {
			return p.fail("this is version %s of the form, and version %d is what can be read", f[2], derivationVersion)
		}
		p.headed = true
		return nil
	case !p.traced:
		var units, statements int32
		if err := p.fields(f, "trace", "units", &units, "statements", &statements, "sha256", &d.Trace); err != nil {
			return err
		}
		d.Units, d.Statements, p.traced = int(units), int(statements), true
		return nil
	}
	switch f[0] {
	case "segments":
		if len(d.Rounds) > 0 {
			return p.fail("segments after the first round")
		}
		for _, x := range f[1:] {
			n, err := p.number(x)
			if err != nil {
				return err
			}
			d.Segments = append(d.Segments, n)
		}
	case "round":
		if len(f) != 2 || !slices.Contains(shapeNames[:], f[1]) {
			return p.fail("a round is one of %s", strings.Join(shapeNames[:], ", "))
		}
		d.Rounds = append(d.Rounds, Round{Shape: Shape(slices.Index(shapeNames[:], f[1]))})
	case "result":
		var before, after int32
		if err := p.fields(f, "result", "switches", &before, &after, "sha256", &d.Result, "seal", &d.Seal); err != nil {
			return err
		}
		d.Before, d.After, p.ended = int(before), int(after), true
	case "base2", "S", "line":
		if len(d.Rounds) == 0 {
			return p.fail("a step before the first round")
		}
		s := Step{Rule: Rule(slices.Index(ruleNames[:], f[0]))}
		var err error
		if s.Rule == Line {
			err = p.fields(f, "line", &s.Lo, &s.Hi, &s.Unit, &s.Count, "after", (*place)(&s.After))
		} else {
			way := "up"
			if s.Down = len(f) > 3 && f[3] == "down"; s.Down {
				way = "down"
			}
			err = p.fields(f, f[0], &s.Lo, &s.Hi, way, &s.Unit, &s.Count)
		}
		if err != nil {
			return err
		}
		r := &d.Rounds[len(d.Rounds)-1]
		r.Steps = append(r.Steps, s)
	default:
		return p.fail("%q is not a rule", f[0])
	}
	return nil
}

// place is a unit, or -1 for the start of the trace.
type place int32

// fields takes the words of a line: strings as they are, numbers and digests by pointer.
func (p *derivationReader) fields(f []string, want ...any) error {
	if len(f) != len(want) {
		return p.fail("%d words, where the line %q has %d", len(f), want[0], len(want))
	}
	for i, w := range want {
		switch w := w.(type) {
		case string:
			if f[i] != w {
				return p.fail("%q in the place of %q", f[i], w)
			}
		case *int32:
			n, err := p.number(f[i])
			if err != nil {
				return err
			}
			*w = n
		case *place:
			if *w = -1; f[i] == "-1" {
				continue
			}
			n, err := p.number(f[i])
			if err != nil {
				return err
			}
			*w = place(n)
		case *Digest:
			b, err := hex.DecodeString(f[i])
			if err != nil || len(b) != len(w) {
				return p.fail("%q is not a SHA-256", f[i])
			}
			copy(w[:], b)
		}
	}
	return nil
}

func (p *derivationReader) number(s string) (int32, error) {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 0 {
		return 0, p.fail("%q is not a number from 0 to 2147483647", s)
	}
	return int32(n), nil
}
