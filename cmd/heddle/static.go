package main

import (
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/internal/simplify/bintrcred"
	"github.com/heddle-dev/heddle/internal/simplify/static"
	"github.com/heddle-dev/heddle/internal/simplify/stmt"
)

// staticJSON is what simplify --static --json prints.
type staticJSON struct {
	Trace      string          `json:"trace,omitempty"`
	Events     int             `json:"events"`
	Before     int             `json:"before"` // context switches
	After      int             `json:"after"`
	Gap        *static.Gap     `json:"gap,omitempty"`
	Derivation *derivationJSON `json:"derivation,omitempty"`
	Seconds    float64         `json:"seconds"`
}

type derivationJSON struct {
	File   string           `json:"file"`
	Steps  int              `json:"steps"`
	Before int              `json:"before"`
	After  int              `json:"after"`
	Phases bintrcred.Phases `json:"phases"` // ns
}

// runStatic simplifies without running anything.
func (c *simplifyCommand) runStatic(a *app) error {
	began := time.Now()
	var out staticJSON
	if c.Derivation != "" {
		d, err := c.derive()
		if err != nil {
			return err
		}
		out.Derivation = d
	}
	var g *depend.Graph
	if formatOf(c.Trace) == formatStatements {
		t, err := readStatements(c.Trace)
		if err != nil {
			return err
		}
		g = stmt.Graph(t)
		r := static.Simplify(g, static.DefaultEffort)
		out.Events, out.Before, out.After = g.Len(), r.Before, r.After
	} else {
		in, err := readAny(c.Trace)
		if err != nil {
			return err
		}
		reordered, r := static.Reordered(in.trace)
		out.Events, out.Before, out.After = len(in.trace.Events), r.Before, r.After
		if c.Output == "" {
			c.Output = derivedName(c.Trace, "static")
		}
		reordered.Header.Original = c.Trace
		in.trace = reordered
		if _, err := writeAny(c.Output, in); err != nil {
			return err
		}
		out.Trace = c.Output
		if c.Gap {
			g = depend.Build(reordered)
		}
	}
	if c.Gap {
		gap := static.GapOf(out.After, static.Optimum(g, nil, static.DefaultLimits))
		out.Gap = &gap
	}
	out.Seconds = time.Since(began).Seconds()
	if a.JSON {
		return a.printJSON(out)
	}
	fmt.Fprintf(a.stdout, "%s events, %d context switches before, %d after, the same execution (%.2f s)\n", thousands(out.Events), out.Before, out.After, out.Seconds)
	if out.Gap != nil {
		fmt.Fprintf(a.stdout, "distance from the fewest with these dependences: %v\n", *out.Gap)
	}
	if d := out.Derivation; d != nil {
		fmt.Fprintf(a.stdout, "BinTrcRed: %d context switches before, %d after, %s steps\n", d.Before, d.After, thousands(d.Steps))
		if p := d.Phases; c.Stats {
			fmt.Fprintf(a.stdout, "  counting %v, semantics %v, connectivity %v, reduction %v, counting %v, semantics %v\n",
				p.CountBefore, p.SemanticsBefore, p.Connectivity, p.Reduction, p.CountAfter, p.SemanticsAfter)
		}
		fmt.Fprintf(a.stdout, "derivation: %s\ncheck:      heddle check derivation %s %s\n", d.File, c.Trace, d.File)
	}
	if out.Trace != "" {
		fmt.Fprintf(a.stdout, "simplified: %s\n", out.Trace)
	}
	return nil
}

// derive runs BinTrcRed and writes its derivation.
func (c *simplifyCommand) derive() (*derivationJSON, error) {
	t, err := readStatements(c.Trace)
	if err != nil {
		return nil, err
	}
	r, err := bintrcred.Run(t)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Trace, err)
	}
	if err := writeWhole(c.Derivation, r.Derivation.Write); err != nil {
		return nil, err
	}
	return &derivationJSON{c.Derivation, r.Derivation.Steps(), r.Before, r.After, r.Phases}, nil
}
