package mcpserver

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/wording"
)

// maxText bounds the drawing in a text, in bytes.
const maxText = 32 << 10

// cut shortens a drawing, at the end of a line, and says so.
func cut(text string) string {
	if len(text) <= maxText {
		return text
	}
	at := strings.LastIndexByte(text[:maxText], '\n') + 1
	return text[:at] + fmt.Sprintf("… %s; the tool show has them as structured content\n", wording.Count(strings.Count(text[at:], "\n"), "more line"))
}

// read decodes what heddle printed. What the text does not use is not decoded.
func read(structured json.RawMessage, into any) bool { return json.Unmarshal(structured, into) == nil }

func findText(structured json.RawMessage, draw func(string) string) string {
	var r struct {
		result.Search
		Ended      string             `json:"ended"`
		Finding    *result.Finding    `json:"finding"`
		Findings   []result.Distinct  `json:"findings"`
		Trace      string             `json:"trace"`
		Simplified *result.Simplified `json:"simplified"`
		Races      []json.RawMessage  `json:"races"`
		Notes      []string           `json:"notes"`
	}
	if !read(structured, &r) {
		return "see the structured content"
	}
	var b strings.Builder
	switch {
	case r.Finding == nil:
		fmt.Fprintf(&b, "no failure in %s, %s (%.1f s); the search ended because of: %s\n",
			wording.Count(r.Executions, "execution"), wording.Count(r.Behaviours, wording.Behaviour), r.Seconds, r.Ended)
		if len(r.Races) > 0 {
			fmt.Fprintf(&b, "%s seen\n", wording.Count(len(r.Races), "data race"))
		}
	default:
		best := found(&b, r.Finding, r.Trace, r.Simplified)
		for _, f := range r.Findings {
			if f.Finding.Key != r.Finding.Key {
				found(&b, f.Finding, f.Trace, f.Simplified)
			}
		}
		if best != "" {
			fmt.Fprintf(&b, "\n%s", draw(best))
		}
	}
	for _, n := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", n)
	}
	return b.String()
}

// found describes one finding, and returns the trace to look at.
func found(b *strings.Builder, f *result.Finding, trace string, s *result.Simplified) string {
	fmt.Fprintln(b, f.Headline())
	if f.Where != "" {
		fmt.Fprintf(b, "at:    %s\n", f.Where)
	}
	if said := f.Said(); said != "" {
		fmt.Fprintf(b, "why:   %s\n", said)
	}
	if !f.Confirmed {
		fmt.Fprintln(b, "not confirmed: it did not fail again when its trace was replayed")
	}
	if trace != "" {
		fmt.Fprintf(b, "trace: %s\n", trace)
	}
	if s == nil || s.Trace == "" {
		return trace
	}
	fmt.Fprintf(b, "simplified: %s (%s, %s)\n", s.Trace, wording.Count(s.Switches, "context switch"), wording.Count(s.Preemptions, "preemption"))
	return s.Trace
}

func testText(structured json.RawMessage, draw func(string) string) string {
	var r struct {
		Tests    []result.Test    `json:"tests"`
		Packages []result.Package `json:"packages"`
	}
	if !read(structured, &r) {
		return "see the structured content"
	}
	var b strings.Builder
	for i := range r.Tests {
		t := &r.Tests[i]
		fmt.Fprintf(&b, "%s %s: %s, %s\n", t.Package, t.Test, t.Outcome, wording.Count(t.Executions, "execution"))
		for _, f := range t.Each() {
			if best := found(&b, f.Finding, f.Trace, f.Simplified); best != "" && b.Len() < maxText {
				fmt.Fprintf(&b, "\n%s\n", draw(best))
			}
		}
		if t.Error != "" {
			fmt.Fprintf(&b, "error: %s\n", t.Error)
		}
		for _, n := range t.Notes {
			fmt.Fprintf(&b, "note: %s\n", n)
		}
	}
	for _, p := range r.Packages {
		fmt.Fprintf(&b, "%s: %s; %s, %d found\n", p.Package, p.Outcome, wording.Count(p.Tests, "test"), p.Found)
		if p.Error != "" {
			fmt.Fprintf(&b, "error: %s\n", p.Error)
		}
	}
	return b.String()
}

func replayText(in replayArgs) func(json.RawMessage, func(string) string) string {
	return func(structured json.RawMessage, _ func(string) string) string {
		var r struct {
			Same    bool            `json:"same"`
			Times   int             `json:"times"`
			Events  int             `json:"events"`
			Finding *result.Finding `json:"finding"`
			Varies  string          `json:"varies"`
			// Of a control record, which has no events.
			Executions *int `json:"executions"`
			Failures   int  `json:"failures"`
		}
		if !read(structured, &r) {
			return "see the structured content"
		}
		if r.Executions != nil {
			return fmt.Sprintf("%s of %s failed\n", wording.Thousands(r.Failures), wording.Count(*r.Executions, "execution"))
		}
		how := fmt.Sprintf("replayed %s: %s, identical", wording.Count(r.Times, "time"), wording.Count(r.Events, "event"))
		switch {
		case in.Changed && r.Same:
			how = fmt.Sprintf("followed the schedule as it was recorded: %s", wording.Count(r.Events, "event"))
		case in.Changed:
			how = fmt.Sprintf("followed the schedule as far as it goes: %s", wording.Count(r.Events, "event"))
		}
		ending := "no failure"
		if r.Finding != nil {
			ending = r.Finding.Headline()
			if r.Finding.Where != "" {
				ending += ", at " + r.Finding.Where
			}
		}
		text := how + "; " + ending + "\n"
		if r.Varies != "" {
			text += "note: " + r.Varies + "\n"
		}
		return text
	}
}
