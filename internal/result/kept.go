package result

import (
	"fmt"
	"io"

	"github.com/heddle-dev/heddle/internal/wording"
)

// Kept is what a search did with a corpus of findings.
type Kept struct {
	Dir   string   `json:"dir"`
	Added []string `json:"added,omitempty"` // files of new findings
	// Fixed are the files of findings that no longer fail, if the search found nothing else.
	Fixed []string `json:"fixed,omitempty"`

	Notes []string `json:"-"`
}

// Kept prints what a search did with a corpus; nothing for nil.
func (p *Printer) Kept(k *Kept) {
	if k == nil {
		return
	}
	for _, name := range k.Added {
		fmt.Fprintf(p.Words, "kept in:    %s\n", name)
	}
	printFixed(p.Words, "", k.Fixed, p.Prune)
}

// printFixed prints which kept schedules no longer fail.
func printFixed(w io.Writer, indent string, fixed []string, prune bool) {
	fate := "it is left alone; remove it, or use --prune"
	if prune {
		fate = "it is removed"
	}
	for _, name := range fixed {
		fmt.Fprintf(w, "%sfixed? the schedule in %s no longer fails: %s\n", indent, name, fate)
	}
}

// printKnown prints a finding of a corpus: the trace was there before.
func printKnown(w io.Writer, trace string) {
	fmt.Fprintf(w, "\nkept in:    %s\nreplay:     heddle replay %s\n", trace, wording.Quoted(trace))
}
