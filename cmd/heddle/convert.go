package main

import (
	"fmt"

	"github.com/heddle-dev/heddle/internal/rapid"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wording"
)

type convertCommand struct {
	From string `arg:"" predictor:"file" help:"The trace to read."`
	To   string `arg:"" predictor:"file" help:"The trace to write."`
}

func (c *convertCommand) Help() string {
	return `The suffixes of the names tell the formats: .hdl is heddle's, .txt its text form, .std and
.std.gz are RAPID's. What a format cannot express is listed.`
}

type convertJSON struct {
	Trace  string       `json:"trace"`
	Events int          `json:"events"`
	Lost   []rapid.Loss `json:"lost"`
}

func (c *convertCommand) Run(a *app) error {
	if _, known := tracefile.FormatNamed(c.To); !known {
		return usage.Errorf("unknown format of %s: want a name that ends in .hdl, .txt, .std or .std.gz", c.To)
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
	lost, err := tracefile.WriteAny(c.To, in)
	if err != nil {
		return err
	}
	out := convertJSON{c.To, len(in.Trace.Events), append(append([]rapid.Loss{}, in.Lost...), lost...)}
	if a.JSON {
		return a.printJSON(out)
	}
	fmt.Fprintf(a.stdout, "%s: %s events\n", out.Trace, wording.Thousands(out.Events))
	for _, l := range out.Lost {
		fmt.Fprintf(a.stdout, "lost: %v\n", l)
	}
	return nil
}
