package markdown

import (
	"bytes"
	"flag"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/internal/testing/reporttest"
	"github.com/heddle-dev/heddle/internal/wording"
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
	reporttest.Golden(t, "testdata/markdown.txtar", *update, func(t *testing.T, name string) []byte {
		tr, names := reporttest.Load(t, name)
		out := render(t, report.Build(tr, names, report.Options{}), Options{Trace: name + ".hdl", Schedule: "hds1.p1.AAAA"})
		check(t, out)
		return out
	})
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

// tag matches the only HTML of a report: a cell's text that has a vertical bar.
var tag = regexp.MustCompile(`^</?code>$`)

// check parses a report with a parser for GitHub Flavored Markdown. Whatever the program's texts are, it has
// no markup but the report's own, each row of a table has all columns, and it is short enough.
func check(t *testing.T, source []byte) {
	t.Helper()
	if len(source) > MaxBytes {
		t.Errorf("%d bytes", len(source))
	}
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	tables := 0
	err := ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link, *ast.AutoLink, *ast.Image, *ast.HTMLBlock, *ast.CodeBlock, *ast.Blockquote, *ast.ThematicBreak:
			t.Errorf("%s in\n%s", n.Kind(), source)
		case *ast.RawHTML:
			if s := n.Segments.At(0); !tag.Match(s.Value(source)) {
				t.Errorf("HTML %q", s.Value(source))
			}
		case *ast.Heading:
			if n.Level == 2 && n.PreviousSibling() != nil || n.Level != 2 && n.Level != 3 {
				t.Errorf("heading of level %d", n.Level)
			}
		case *extast.Table:
			tables++
			for row := n.FirstChild(); row != nil; row = row.NextSibling() {
				if row.ChildCount() != len(n.Alignments) {
					t.Errorf("row with %d cells of %d", row.ChildCount(), len(n.Alignments))
				}
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil || tables == 0 {
		t.Errorf("%d tables (%v) in\n%s", tables, err, source)
	}
	// A row with too many cells loses them in the parser.
	columns := 0
	for line := range strings.Lines(string(source)) {
		switch {
		case strings.HasPrefix(line, "| event |"):
			columns = bars(line)
		case strings.HasPrefix(line, "| ") && columns > 0:
			if bars(line) != columns {
				t.Errorf("%d bars, want %d: %s", bars(line), columns, line)
			}
		}
	}
}

func bars(line string) int { return strings.Count(line, "|") }

// Any text reaches the reader as it is, in a cell and outside.
func TestTextSurvives(t *testing.T) {
	md := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(html.WithUnsafe()))
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching("[ab `*_|\\\\<>&#@\\[\\]()!~:\"'$\n\t€-]{0,12}").Draw(t, "text")
		want := wording.Line(s)
		source := fmt.Sprintf("| h | i |\n|---|---|\n| %s | x |\n", cell(s))
		var b bytes.Buffer
		if err := md.Convert([]byte(source), &b); err != nil {
			t.Fatal(err)
		}
		got := regexp.MustCompile(`(?s)<tbody>\n<tr>\n<td>(.*?)</td>\n<td>x</td>\n</tr>`).FindStringSubmatch(b.String())
		if got == nil || strings.TrimSpace(plain(got[1])) != strings.TrimSpace(want) {
			t.Fatalf("cell %q is\n%s\nfrom\n%s", want, b.String(), source)
		}
		b.Reset()
		if err := md.Convert([]byte("x "+span(s)+"\n"), &b); err != nil {
			t.Fatal(err)
		}
		if text := plain(b.String()); strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "x")) != strings.TrimSpace(want) {
			t.Fatalf("span %q is\n%s", want, b.String())
		}
	})
}

// cmark-gfm, from which GitHub's renderer comes, agrees about cells.
func TestCells(t *testing.T) {
	tool := need.Tool(t, "cmark-gfm")
	rows := regexp.MustCompile(`(?s)<tr>\n<td>(.*?)</td>\n<td>x</td>\n</tr>`)
	rapid.Check(t, func(t *rapid.T) {
		source := "| h | i |\n|---|---|\n"
		texts := rapid.SliceOfN(rapid.StringMatching("[ab `*_|\\\\<>&#@\\[\\]()!~:\"'$\n\t€-]{0,12}"), 50, 50).Draw(t, "texts")
		for _, s := range texts {
			source += "| " + cell(s) + " | x |\n"
		}
		cmd := exec.Command(tool, "-e", "table", "-e", "autolink", "-e", "strikethrough", "--unsafe")
		cmd.Stdin = strings.NewReader(source)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		found := rows.FindAllSubmatch(out, -1)
		if len(found) != len(texts) {
			t.Fatalf("%d rows of %d in\n%s\nfrom\n%s", len(found), len(texts), out, source)
		}
		for i, m := range found {
			if got, want := strings.TrimSpace(plain(string(m[1]))), strings.TrimSpace(wording.Line(texts[i])); got != want {
				t.Fatalf("%q, want %q", got, want)
			}
		}
	})
}

// plain is the text of HTML.
func plain(s string) string {
	s = regexp.MustCompile(`</?(code|p)>`).ReplaceAllString(s, "")
	return strings.NewReplacer("&lt;", "<", "&gt;", ">", "&quot;", `"`, "&amp;", "&").Replace(s)
}

// A report of a huge execution is cut in the middle, and says how much is missing.
func TestCut(t *testing.T) {
	tr, names := reporttest.Random(t, 3, 3, 20_000)
	v := report.Build(tr, names, report.Options{})
	v.Output = strings.Repeat("a line of the output\n", 10_000)
	out := render(t, v, Options{Full: true})
	check(t, out)
	m := regexp.MustCompile(`(?m)^([\d,]+) events left out\.$`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("nothing is left out of\n%s", out[:2000])
	}
	shown := len(regexp.MustCompile(`(?m)^\| \d`).FindAll(out, -1))
	if got := wording.Thousands(len(tr.Events) - shown); got != string(m[1]) {
		t.Errorf("%s events left out, want %s", m[1], got)
	}
}

// Texts of the program stay inside of their code.
func TestHostile(t *testing.T) {
	for _, evil := range []string{"```\n# x\n<script>", "a|b|c", "` | `", "@someone #1 https://example.org", "[x](y)", "\\| \\", "</code><b>"} {
		v := &report.View{
			Command: []string{"./x", evil}, Ending: evil, Output: evil, Notes: []string{evil},
			Columns: []report.Column{{Name: evil}}, Omit: []string{evil},
			Places:  []report.Place{{Label: "?"}, {Label: evil, Func: evil, Text: evil}},
			Rows:    []report.Row{{Kind: report.EventRow, Events: 1, Cell: &report.Cell{Text: evil, Place: 1}}},
			Failure: &report.Failure{Title: evil, Object: evil, Stack: []int{1}},
			Blocks:  []report.Block{{Name: evil, Detail: evil}},
		}
		check(t, render(t, v, Options{Trace: evil, Schedule: "hds1"}))
	}
}
