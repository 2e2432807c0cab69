package result

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/heddle-dev/heddle/internal/report/term"
	"github.com/heddle-dev/heddle/internal/wording"
)

// Lines of a test's report on a terminal: testLines in all, of which moreLines are for anything but findings.
const (
	testLines = 60
	moreLines = 14
)

// bounded prints what print prints; with Bounded set, at most n lines of it, of which the last ones matter more. whole
// says how to see all.
func (p *Printer) bounded(n int, whole string, print func(*Printer) error) error {
	if !p.Bounded || p.Full {
		return print(p)
	}
	var b bytes.Buffer
	q := *p
	q.Words, q.Screen = term.Plain(&b), &b
	if err := print(&q); err != nil {
		return err
	}
	lines := strings.SplitAfter(b.String(), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	if left := len(lines) - (n - 1); left > 1 {
		head := (n - 1) / 3
		mark := fmt.Sprintf("… %s left out: %s\n", wording.Count(left, "line"), whole)
		lines = append(append(append([]string{}, lines[:head]...), mark), lines[head+left:]...)
	}
	_, err := p.Screen.Write([]byte(strings.Join(lines, "")))
	return err
}
