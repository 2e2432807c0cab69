package main

import (
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// Every flag that the go command documents for go test has a place in heddle test: it takes effect, or is ignored with a
// note, or refused with a reason.
func TestGoTestFlags(t *testing.T) {
	t.Parallel()
	var c commandLine
	parser, err := newParser(&c, io.Discard, io.Discard, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, f := range parser.Model.Flags {
		known[f.Name] = true
	}
	for _, n := range parser.Model.Children {
		if n.Name == "test" {
			for _, f := range n.Flags {
				known[f.Name] = true
			}
		}
	}
	flags := regexp.MustCompile(`(?m)^\t-([a-zA-Z]+)`)
	found := 0
	for _, topic := range []string{"build", "test", "testflag"} {
		out, err := exec.Command("go", "help", topic).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range flags.FindAllStringSubmatch(string(out), -1) {
			found++
			if name := m[1]; known[name] == (refusal(name) != "") {
				t.Errorf("go help %s has -%s: known to heddle test: %v, refused: %q", topic, name, known[name], refusal(name))
			}
		}
	}
	if found < 60 {
		t.Errorf("only %d flags in the help of the go command", found)
	}
	for name := range refusedGoFlags {
		if why := refusal(name); !strings.Contains(why, ": ") || strings.HasSuffix(why, ".") {
			t.Errorf("-%s: %s", name, why)
		}
	}
}
