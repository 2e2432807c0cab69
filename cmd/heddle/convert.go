package main

import (
	"fmt"

	"github.com/heddle-dev/heddle/internal/std"
)

type convertCommand struct {
	From string `arg:"" help:"The trace to read."`
	To   string `arg:"" help:"The trace to write."`
}

func (c *convertCommand) Help() string {
	return `The formats are told by the names: .hdl is heddle's, .txt its text form, .std and .std.gz are
RAPID's. What a format cannot say is listed.`
}

type convertJSON struct {
	Trace  string     `json:"trace"`
	Events int        `json:"events"`
	Lost   []std.Loss `json:"lost"`
}

func (c *convertCommand) Run(a *app) error {
	in, err := readAny(c.From)
	if err != nil {
		return err
	}
	lost, err := writeAny(c.To, in)
	if err != nil {
		return err
	}
	out := convertJSON{c.To, len(in.trace.Events), append(append([]std.Loss{}, in.lost...), lost...)}
	if a.JSON {
		return a.printJSON(out)
	}
	fmt.Fprintf(a.stdout, "%s: %s events\n", out.Trace, thousands(out.Events))
	for _, l := range out.Lost {
		fmt.Fprintf(a.stdout, "lost: %v\n", l)
	}
	return nil
}
