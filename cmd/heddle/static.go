package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/internal/simplify/bintrcred"
	"github.com/heddle-dev/heddle/internal/simplify/proof"
	"github.com/heddle-dev/heddle/internal/simplify/static"
	"github.com/heddle-dev/heddle/internal/simplify/stmt"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wording"
)

// The arguments of simplify --static --method.
const (
	fewest    = "fewest"
	merge     = "merge"
	simTrace  = "simtrace"
	binTrcRed = "bintrcred"
)

// staticJSON is what simplify --static --json prints.
type staticJSON struct {
	Trace      string          `json:"trace"`
	Events     int             `json:"events"`
	Before     int             `json:"before"` // context switches
	After      int             `json:"after"`
	Method     string          `json:"method"`
	Methods    map[string]int  `json:"methods"` // context switches by each method that was used
	Gap        *static.Gap     `json:"gap,omitempty"`
	Derivation *derivationJSON `json:"derivation,omitempty"`
	Seconds    float64         `json:"seconds"`
}

type derivationJSON struct {
	File   string            `json:"file"`
	Steps  int               `json:"steps"`
	Before int               `json:"before"`
	After  int               `json:"after"`
	Phases *bintrcred.Phases `json:"phases,omitempty"` // ns; of BinTrcRed
}

// runStatic simplifies without running anything.
func (c *simplifyCommand) runStatic(a *app) error {
	began := time.Now()
	in, err := tracefile.ReadAny(c.Trace)
	if err != nil {
		return err
	}
	if c.Output == "" {
		c.Output = tracefile.Derived(c.Trace, "static")
	}
	if c.Output == c.Derivation {
		return usage.Errorf("-o and --derivation name the same file, %s", c.Output)
	}
	if err := in.Takes(c.Output); err != nil {
		return usage.Wrap(err)
	}
	s := &staticReduction{in: in, g: in.Graph(), units: sync.OnceValue(in.Units)}
	if err := s.reduce(a.ctx, c.Method); err != nil {
		return c.explained(err)
	}
	out := staticJSON{Trace: c.Output, Events: in.Len(), Before: s.before, After: s.after, Method: s.method, Methods: s.afterOf}
	var d *stmt.Derivation
	if c.Derivation != "" {
		if d, err = s.derive(a.ctx); err != nil {
			return c.explained(err)
		}
		out.Derivation = &derivationJSON{c.Derivation, d.Steps(), d.Before, d.After, nil}
		if s.bintrcred != nil && s.method == binTrcRed {
			out.Derivation.Phases = &s.bintrcred.Phases
		}
	}
	if c.Gap {
		best, err := static.Optimum(a.ctx, s.g, s.order, static.DefaultLimits)
		if err != nil {
			return err
		}
		gap := static.GapOf(s.after, best)
		out.Gap = &gap
	}
	if err := tracefile.WriteReordered(c.Output, in, s.g, s.order, c.Trace); err != nil {
		return err
	}
	if d != nil {
		if err := tracefile.WriteWhole(c.Derivation, d.Write); err != nil {
			return err
		}
	}
	out.Seconds = time.Since(began).Seconds()
	if a.JSON {
		return a.printJSON(out)
	}
	c.printStatic(a, &out)
	return nil
}

// explained returns the error of a method with the name of the trace, unless the command was interrupted.
func (c *simplifyCommand) explained(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return fmt.Errorf("%s: %w", c.Trace, err)
}

func (c *simplifyCommand) printStatic(a *app, out *staticJSON) {
	fmt.Fprintf(a.stdout, "%s events, %d context switches before, %d after, the same execution (%.2f s)\n", wording.Thousands(out.Events), out.Before, out.After, out.Seconds)
	if out.Gap != nil {
		fmt.Fprintf(a.stdout, "distance from the fewest with these dependences: %v\n", *out.Gap)
	}
	var others []string
	for _, m := range []string{merge, simTrace, binTrcRed} {
		if n, ok := out.Methods[m]; ok && m != out.Method {
			others = append(others, fmt.Sprintf("%s: %d", m, n))
		}
	}
	fmt.Fprintf(a.stdout, "method:     %s", out.Method)
	if len(others) > 0 {
		fmt.Fprintf(a.stdout, " (%s)", strings.Join(others, ", "))
	}
	fmt.Fprintln(a.stdout)
	if d := out.Derivation; d != nil {
		if p := d.Phases; c.Stats && p != nil {
			fmt.Fprintf(a.stdout, "  counting %v, semantics %v, connectivity %v, reduction %v, counting %v, semantics %v\n",
				p.CountBefore, p.SemanticsBefore, p.Connectivity, p.Reduction, p.CountAfter, p.SemanticsAfter)
		}
		fmt.Fprintf(a.stdout, "derivation: %s, %s\ncheck:      heddle check derivation %s %s %s\n", d.File, wording.Count(d.Steps, "step"),
			wording.Quoted(c.Trace), wording.Quoted(d.File), wording.Quoted(out.Trace))
	}
	fmt.Fprintf(a.stdout, "simplified: %s\n", out.Trace)
}

// staticReduction is a trace and the order that a method found for its units.
type staticReduction struct {
	in    tracefile.Input
	g     *depend.Graph
	units func() *stmt.Trace

	method        string
	order         []int32
	before, after int
	afterOf       map[string]int    // of each method that was used
	bintrcred     *bintrcred.Result // if it was used
}

// reduce finds an order by a method. Of fewest, SimTrace is not used: Merge starts from its order.
func (s *staticReduction) reduce(ctx context.Context, method string) error {
	s.afterOf = map[string]int{}
	s.before = static.Switches(s.g, static.Recorded(s.g))
	optimal := false
	if method == fewest || method == merge {
		var r static.Result
		var err error
		if s.in.Trace != nil {
			r, err = static.Merged(ctx, s.in.Trace, s.g)
		} else {
			r, err = static.Simplify(ctx, s.g, static.DefaultEffort)
		}
		if err != nil {
			return err
		}
		s.found(merge, r.Order)
		optimal = r.After == r.Best.Lower
	}
	if method == simTrace {
		s.found(simTrace, static.SimTrace(s.g))
	}
	if method == binTrcRed || method == fewest && !optimal {
		r, err := bintrcred.Run(ctx, s.units())
		var not *bintrcred.NotExecutionError
		if errors.As(err, &not) && method == fewest {
			return nil
		}
		if err != nil {
			return err
		}
		s.bintrcred = r
		s.found(binTrcRed, r.Order)
	}
	return nil
}

// found takes the order of a method if it is the best.
func (s *staticReduction) found(method string, order []int32) {
	n := static.Switches(s.g, order)
	if s.afterOf[method] = n; s.order == nil || n < s.after {
		s.method, s.order, s.after = method, order, n
	}
}

// derive returns the derivation of the order, checked.
func (s *staticReduction) derive(ctx context.Context) (d *stmt.Derivation, err error) {
	if s.method == binTrcRed {
		d = s.bintrcred.Derivation
	} else if d, err = bintrcred.Derive(ctx, s.units(), s.order); err != nil {
		return nil, err
	}
	order, err := proof.Check(s.units(), d)
	if err == nil && !slices.Equal(order, s.order) {
		err = errors.New("the derivation leads to another order")
	}
	if err != nil {
		return nil, fmt.Errorf("no derivation of what %s found: %w", s.method, err)
	}
	return d, nil
}
