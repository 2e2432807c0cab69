package main

import (
	"fmt"
	"io"

	"github.com/heddle-dev/heddle/internal/rapid"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/report/perfetto"
	"github.com/heddle-dev/heddle/internal/report/shiviz"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

type convertCommand struct {
	From string `arg:"" predictor:"file" help:"The trace to read."`
	To   string `arg:"" predictor:"file" help:"The trace to write."`

	Sources []string `sep:"none" placeholder:"DIR" help:"For .pftrace: look for source files in DIR too."`
}

func (c *convertCommand) Help() string {
	return `The suffixes of the names tell the formats: .hdl is heddle's, .txt its text form, .std and
.std.gz are RAPID's, .stmt is statements, of which no events can be made. .pftrace, for Perfetto,
and .shiviz, for ShiViz, are written only. What a format cannot express is listed.`
}

type convertJSON struct {
	Trace  string       `json:"trace"`
	Events int          `json:"events"`
	Lost   []rapid.Loss `json:"lost"`
}

func (c *convertCommand) Run(a *app) error {
	if _, known := tracefile.FormatNamed(c.To); !known {
		return usage.Errorf("unknown format of %s: want a name that ends in .hdl, .txt, .std, .std.gz, .stmt, .pftrace or .shiviz", c.To)
	}
	if err := tracefile.NotInput(c.To, c.From); err != nil {
		return err
	}
	if err := tracefile.Writable(c.To); err != nil {
		return err
	}
	in, err := tracefile.ReadAny(c.From)
	if err != nil {
		return err
	}
	if in.Statements != nil {
		if err := in.Takes(c.To); err != nil {
			return err
		}
	}
	lost, err := c.write(in)
	if err != nil {
		return err
	}
	out := convertJSON{c.To, in.Len(), append(append([]rapid.Loss{}, in.Lost...), lost...)}
	if a.JSON {
		return a.printJSON(out)
	}
	fmt.Fprintf(a.stdout, "%s: %s events\n", out.Trace, wording.Thousands(out.Events))
	for _, l := range out.Lost {
		fmt.Fprintf(a.stdout, "left out: %v\n", l)
	}
	return nil
}

// write writes the trace and returns what the format cannot express.
func (c *convertCommand) write(in tracefile.Input) ([]rapid.Loss, error) {
	var render func(io.Writer, *trace.Trace, *report.View) error
	switch tracefile.FormatOf(c.To) {
	case tracefile.Perfetto:
		render = perfetto.Render
	case tracefile.ShiViz:
		render = shiviz.Render
	default:
		return tracefile.WriteAny(c.To, in)
	}
	v := result.View(in.Trace, c.Sources)
	var lost []rapid.Loss
	if first, n := v.Hides(); n > 0 {
		lost = append(lost, rapid.Loss{What: "events without a row in heddle show", Count: n, First: first})
	}
	return lost, tracefile.WriteWhole(c.To, func(w io.Writer) error { return render(w, in.Trace, v) })
}
