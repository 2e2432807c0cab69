package mermaid

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/internal/testing/reporttest"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
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

func TestGolden(t *testing.T) {
	reporttest.Golden(t, "testdata/mermaid.txtar", *update, func(t *testing.T, name string) []byte {
		tr, names := reporttest.Load(t, name)
		out := render(t, report.Build(tr, names, report.Options{}), Options{})
		check(t, out)
		return out
	})
}

// The grammar of the statements that a diagram consists of, stricter than Mermaid's: texts have no
// character that its lexer, its directives or HTML give a meaning, except in entity codes.
const label = `(?:[^#;<>&"'%$\\{}` + "`" + `@+\n]|#\d+;)+`

var (
	participant = regexp.MustCompile(`^  participant (T\d+) as ` + label + `$`)
	note        = regexp.MustCompile(`^ +Note over (T\d+)(?:,(T\d+))?: ` + label + `$`)
	message     = regexp.MustCompile(`^ +(T\d+)(?:-x|--\)|->>)(T\d+): ` + label + `$`)
	loop        = regexp.MustCompile(`^ +loop [\d,]+ times?$`)
	end         = regexp.MustCompile(`^ +end$`)
	directive   = regexp.MustCompile(`(?m): (?:no)?wrap:`)
)

// check parses a diagram.
func check(t testing.TB, source []byte) {
	t.Helper()
	if len(source) > MaxBytes {
		t.Errorf("%d bytes", len(source))
	}
	if directive.Match(source) {
		t.Errorf("a text is a directive: %s", source)
	}
	lines := strings.Split(strings.TrimSuffix(string(source), "\n"), "\n")
	if lines[0] != "sequenceDiagram" {
		t.Errorf("begins with %q", lines[0])
	}
	known, depth := map[string]bool{"": true}, 0
	for i, l := range lines[1:] {
		var m []string
		switch {
		case participant.MatchString(l):
			known[participant.FindStringSubmatch(l)[1]] = true
		case note.MatchString(l):
			m = note.FindStringSubmatch(l)
		case message.MatchString(l):
			m = message.FindStringSubmatch(l)
		case loop.MatchString(l):
			depth++
		case end.MatchString(l):
			depth--
		default:
			t.Errorf("line %d: %q is not a statement", i+2, l)
		}
		if m != nil && (!known[m[1]] || !known[m[2]]) {
			t.Errorf("line %d: %q names no participant", i+2, l)
		}
		if depth < 0 {
			t.Errorf("line %d: end without a loop", i+2)
		}
	}
	if depth != 0 {
		t.Errorf("%d loops do not end", depth)
	}
}

func TestRandom(t *testing.T) {
	for seed := range uint64(60) {
		tr, names := reporttest.Random(t, seed, 1+int(seed%7), 30+int(seed*20))
		v := report.Build(tr, names, report.Options{})
		for _, full := range []bool{false, true} {
			check(t, render(t, v, Options{Full: full}))
		}
	}
}

// hostile are texts that a parser of Mermaid takes for something else unless they are escaped.
var hostile = []string{
	"a; T1->>T0: x", "#9829;", "<b>x</b>", "a<br/>b", "end", "loop", "%%{init: {}}%%", "%% x", "wrap: x", ":wrap: x", "nowrap:x", "$$x$$", "",
	" ", "as b", "T0 as x", "\\n", `"x"`, "a\nb", "{x}", "@{ \"type\" : \"queue\" }", "->>", "a,b", "activate T0", "\x1b[31m", "€ 変数", "+T1", "-x", "title: x", "---",
}

func hostileView(evil string) *report.View {
	return &report.View{
		Columns: []report.Column{{Name: evil, Path: evil, Parent: -1}, {Thread: 1, Name: evil}},
		Places:  []report.Place{{Label: "?"}, {Label: evil}},
		Rows: []report.Row{
			{Kind: report.EventRow, Events: 1, Cell: &report.Cell{Text: evil, Place: 1}},
			{Kind: report.EventRow, Events: 1, Cell: &report.Cell{Text: evil}},
			{Kind: report.EventRow, Events: 1, Cell: &report.Cell{Op: trace.OpThreadCreate.String(), Text: evil, Object: "T1"}},
			{Kind: report.SwitchRow, Switch: &report.Switch{To: 1, Text: evil}},
		},
		Failure: &report.Failure{Title: evil, Waits: []report.Wait{{Text: evil}}, Ring: 1},
	}
}

func TestHostile(t *testing.T) {
	for _, evil := range hostile {
		check(t, render(t, hostileView(evil), Options{}))
	}
}

// Mermaid's own parser takes the diagrams, and finds the threads and messages in them. It comes from
// npm, so the test runs where HEDDLE_MERMAID names a directory in which `npm install mermaid jsdom` ran.
func TestParser(t *testing.T) {
	dir := os.Getenv("HEDDLE_MERMAID")
	if dir == "" {
		t.Skip("HEDDLE_MERMAID names no directory with the npm packages mermaid and jsdom")
	}
	node := need.Tool(t, "node")
	in := t.TempDir()
	var files []string
	add := func(v *report.View, o Options) {
		name := filepath.Join(in, fmt.Sprintf("%d.mmd", len(files)))
		if err := os.WriteFile(name, render(t, v, o), 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	}
	for _, name := range reporttest.Fixtures() {
		tr, names := reporttest.Load(t, name)
		add(report.Build(tr, names, report.Options{}), Options{})
	}
	for seed := range uint64(10) {
		tr, names := reporttest.Random(t, seed, 1+int(seed%7), 30+int(seed*20))
		add(report.Build(tr, names, report.Options{}), Options{Full: true})
	}
	for _, evil := range hostile {
		add(hostileView(evil), Options{})
	}
	script := filepath.Join(dir, "heddle-parse.mjs")
	if err := os.WriteFile(script, []byte(parser), 0o644); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(script)
	cmd := exec.CommandContext(t.Context(), node, append([]string{script}, files...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, f := range files {
		source, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		// What the parser has understood is as much as was written.
		want := fmt.Sprintf("%s %d actors %d messages\n", f, strings.Count(string(source), "  participant T"),
			len(regexp.MustCompile(`(?m)^ +(Note |T\d+[->]|loop |end$)`).FindAll(source, -1)))
		if !strings.Contains(string(out), want) {
			t.Errorf("%s: want %sin %s\n%s", f, want, out, source)
		}
	}
}

// parser prints, for each file, what Mermaid reads from it.
const parser = `
import { JSDOM } from 'jsdom';
import fs from 'node:fs';
globalThis.window = new JSDOM('<!DOCTYPE html><body></body>').window;
globalThis.document = window.document;
const mermaid = (await import('mermaid')).default;
mermaid.initialize({});
for (const f of process.argv.slice(2)) {
  const diagram = await mermaid.mermaidAPI.getDiagramFromText(fs.readFileSync(f, 'utf8'));
  if (diagram.type !== 'sequence') throw new Error(f + ': ' + diagram.type);
  console.log(f, diagram.db.getActors().size, 'actors', diagram.db.getMessages().length, 'messages');
}
`

// A diagram of a huge execution is cut in the middle, and says how much is missing.
func TestCut(t *testing.T) {
	tr, names := reporttest.Random(t, 3, 3, 20_000)
	out := render(t, report.Build(tr, names, report.Options{}), Options{Full: true})
	check(t, out)
	m := regexp.MustCompile(`(?m)^  Note over T0,T2: … ([\d,]+) events left out$`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("nothing is left out of\n%s", out[:2000])
	}
	drawn, _, _ := bytes.Cut(out, []byte("✗")) // the failure has notes, too
	shown := len(regexp.MustCompile(`(?m)^  (Note over T\d:|T\d->>)`).FindAll(drawn, -1))
	if regexp.MustCompile(`Note over T\d: $`).Match(drawn) {
		shown-- // the failure's own
	}
	if want := wording.Thousands(len(tr.Events) - shown); want != string(m[1]) {
		t.Errorf("%s events left out, want %s", m[1], want)
	}
	// Too many threads are an error that says what to do.
	v := &report.View{Places: []report.Place{{Label: "?"}}}
	for i := range 1000 {
		v.Columns = append(v.Columns, report.Column{Thread: trace.ThreadID(i), Name: "worker"})
	}
	if err := Render(&bytes.Buffer{}, v, Options{}); err == nil || !strings.Contains(err.Error(), "simplify") {
		t.Errorf("1000 threads: %v", err)
	}
}
