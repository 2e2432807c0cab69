package quickfix

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/testing/reporttest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func render(t testing.TB, v *report.View, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, v, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// gcc is how editors read the messages of compilers (VS Code's $gcc, with notes).
var gcc = regexp.MustCompile(`^([^\n]*):(\d+):(\d+): (error|note): ([^\n]*)$`)

func TestGolden(t *testing.T) {
	reporttest.Golden(t, "testdata/quickfix.txtar", *update, func(t *testing.T, name string) []byte {
		tr, names := reporttest.Load(t, name)
		v := report.Build(tr, names, report.Options{})
		out := render(t, v, Options{Dir: tr.Header.Dir})
		errors := 0
		for line := range strings.Lines(string(out)) {
			m := gcc.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
			if m == nil {
				t.Errorf("%s: an editor does not understand %q", name, line)
			} else if m[4] == failed {
				errors++
			}
		}
		if want := map[bool]int{true: 1}[v.Failure != nil]; errors != want {
			t.Errorf("%s has %d errors, want %d", name, errors, want)
		}
		return out
	})
}

// Texts are one line each; a failure without a source line is still there.
func TestHostile(t *testing.T) {
	evil := "x\nb.c:1:1: error: y\x1b[31m\x07"
	v := &report.View{
		Columns: []report.Column{{Name: evil}},
		Places:  []report.Place{{Label: "?"}, {Label: evil, File: "/src/" + evil, Line: 3}},
		Rows:    []report.Row{{Kind: report.EventRow, Events: 1, Cell: &report.Cell{Text: evil, Place: 1}}, {Kind: report.EventRow, Event: 1, Events: 1, Cell: &report.Cell{Text: "no place"}}},
		Failure: &report.Failure{Title: evil},
	}
	const clean = "x b.c:1:1: error: y?" // without the colour
	want := "error: " + clean + "\n" + clean + ":3:1: note: event 0, T0: " + clean + "\n"
	if got := string(render(t, v, Options{Dir: "/src"})); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	// A file outside of the directory keeps its name.
	v.Places[1].File = "/other/a.c"
	if got := string(render(t, v, Options{Dir: "/src"})); !strings.Contains(got, "\n/other/a.c:3:1: note") {
		t.Errorf("%q", got)
	}
}

func TestRandom(t *testing.T) {
	for seed := range uint64(40) {
		tr, names := reporttest.Random(t, seed, 1+int(seed%7), 30+int(seed*20))
		v := report.Build(tr, names, report.Options{})
		full, short := render(t, v, Options{Full: true}), render(t, v, Options{})
		if bytes.Count(full, []byte("\n")) < bytes.Count(short, []byte("\n")) {
			t.Errorf("seed %d: the full list is shorter", seed)
		}
	}
}

// The problem matcher in the documentation takes the lines apart.
func TestDocumentedMatcher(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/exports.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`"regexp": (".*"),\n`).FindSubmatch(doc)
	if m == nil {
		t.Fatal("docs/exports.md has no regexp")
	}
	var pattern string
	if err := json.Unmarshal(m[1], &pattern); err != nil {
		t.Fatal(err)
	}
	tr, names := reporttest.Load(t, "deadlock")
	line, _, _ := strings.Cut(string(render(t, report.Build(tr, names, report.Options{}), Options{Dir: tr.Header.Dir})), "\n")
	got := regexp.MustCompile(pattern).FindStringSubmatch(line)
	if len(got) != 6 || !slices.Equal(got[1:5], []string{"bank.c", "11", "1", "error"}) || !strings.HasPrefix(got[5], "deadlock: ") {
		t.Errorf("%q of %q", got, line)
	}
}
