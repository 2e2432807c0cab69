package term

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/testing/reporttest"
	"github.com/heddle-dev/heddle/trace"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func render(t testing.TB, v *report.View, o Options) string {
	t.Helper()
	var b bytes.Buffer
	if err := Render(&b, v, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func view(t testing.TB, fixture string) *report.View {
	t.Helper()
	tr, names := reporttest.Load(t, fixture)
	return report.Build(tr, names, report.Options{})
}

// goldens are the drawings of each fixture that are kept.
var goldens = map[string][]string{
	"":            {"40", "80", "132"}, // all
	"lost_update": {"80 color", "80 ascii", "80 full"},
	"deadlock":    {"60 full", "40 ascii"},
	"twenty":      {"80 color"},
	"long_names":  {"24"},
}

// options reads `80 color ascii full`.
func options(t *testing.T, s string) Options {
	t.Helper()
	words := strings.Fields(s)
	w, err := strconv.Atoi(words[0])
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Width: w, Unicode: true}
	for _, f := range words[1:] {
		switch f {
		case "color":
			o.Color = true
		case "ascii":
			o.Unicode = false
		case "full":
			o.Full = true
		}
	}
	return o
}

func TestGolden(t *testing.T) {
	for _, name := range reporttest.Fixtures() {
		t.Run(name, func(t *testing.T) {
			file := "testdata/" + name + ".txtar"
			v := view(t, name)
			var got txtar.Archive
			for _, how := range append(append([]string{}, goldens[""]...), goldens[name]...) {
				out := strings.ReplaceAll(render(t, v, options(t, how)), "\x1b", `\e`)
				got.Files = append(got.Files, txtar.File{Name: how, Data: []byte(out)})
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(&got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(want.Files) != len(got.Files) {
				t.Fatalf("%d drawings, want %d; run with -update", len(got.Files), len(want.Files))
			}
			for i, w := range want.Files {
				if g := got.Files[i]; g.Name != w.Name || !bytes.Equal(g.Data, w.Data) {
					t.Errorf("%s:\n%s\nwant\n%s", w.Name, g.Data, w.Data)
				}
			}
		})
	}
}

// everyView calls f with fixtures and random traces.
func everyView(t *testing.T, f func(name string, v *report.View)) {
	for _, name := range reporttest.Fixtures() {
		f(name, view(t, name))
	}
	for seed := range uint64(16) {
		tr, names := reporttest.Random(t, seed, 1+int(seed*seed%40), 60+int(seed)*16)
		names.Trouble = []error{fmt.Errorf("symbols do not match: %s", strings.Repeat("a-long-path/", int(seed)))}
		f(fmt.Sprintf("random %d", seed), report.Build(tr, names, report.Options{}))
	}
}

// TestShortViewDrawsTheSame: what a view without the rows behind loops and folds leaves out is not drawn.
func TestShortViewDrawsTheSame(t *testing.T) {
	same := func(name string, tr *trace.Trace, names report.Names) {
		whole, short := report.Build(tr, names, report.Options{}), report.Build(tr, names, report.Options{Short: true})
		for _, w := range []int{40, 101} {
			if a, b := render(t, whole, options(t, strconv.Itoa(w))), render(t, short, options(t, strconv.Itoa(w))); a != b {
				t.Fatalf("%s in %d columns: short view\n%s\nwant\n%s", name, w, b, a)
			}
		}
	}
	for _, name := range reporttest.Fixtures() {
		tr, names := reporttest.Load(t, name)
		same(name, tr, names)
	}
	for seed := range uint64(40) {
		tr, names := reporttest.Random(t, seed, 1+int(seed*seed%40), 60+int(seed)*16)
		same(fmt.Sprintf("random %d", seed), tr, names)
	}
}

// TestLongTable: a view that has only the rows that are drawn is drawn as one that has all.
func TestLongTable(t *testing.T) {
	for seed, events := range []int{2_000, 4_000, 8_000, 25_000} {
		tr, names := reporttest.Random(t, uint64(seed), 7, events)
		whole := report.Build(tr, names, report.Options{})
		drawn := report.Build(tr, names, report.Options{Short: true, Long: LongTable, Head: TableHead, Tail: TableTail})
		if rows := len(whole.Rows); (rows > LongTable) != (drawn.Left != nil) || rows <= LongTable && len(drawn.Rows) != rows {
			t.Fatalf("%d events in %d rows: %d rows, %+v", events, rows, len(drawn.Rows), drawn.Left)
		}
		for _, w := range []int{40, 101} {
			if a, b := render(t, whole, options(t, strconv.Itoa(w))), render(t, drawn, options(t, strconv.Itoa(w))); a != b {
				t.Fatalf("%d events in %d columns: got\n%s\nwant\n%s", events, w, b, a)
			}
		}
	}
}

var widths = []int{24, 25, 31, 40, 57, 80, 101, 132, 300}

func TestNoLineIsTooWide(t *testing.T) {
	everyView(t, func(name string, v *report.View) {
		for _, w := range widths {
			for _, how := range []string{"", " full", " color", " ascii full"} {
				o := options(t, strconv.Itoa(w)+how)
				for _, line := range strings.Split(render(t, v, o), "\n") {
					if n := ansi.StringWidth(line); n > w {
						t.Fatalf("%s in %d%s: a line of %d cells: %q", name, w, how, n, line)
					}
					if !o.Color && ansi.Strip(line) != line {
						t.Fatalf("%s in %d%s: escape sequences without colour: %q", name, w, how, line)
					}
					if !o.Unicode && strings.ContainsFunc(line, func(r rune) bool { return r > 0x7e || r < 0x20 && r != 0x1b }) {
						t.Fatalf("%s in %d%s: %q is not plain ASCII", name, w, how, line)
					}
					if strings.TrimRight(line, " ") != line {
						t.Fatalf("%s in %d%s: spaces at the end of %q", name, w, how, line)
					}
				}
			}
		}
	})
}

func TestColorChangesOnlyColor(t *testing.T) {
	everyView(t, func(name string, v *report.View) {
		for _, w := range widths {
			o := Options{Width: w, Unicode: true}
			plain := render(t, v, o)
			o.Color = true
			painted := render(t, v, o)
			if painted == plain {
				t.Fatalf("%s in %d: nothing is painted", name, w)
			}
			var stripped strings.Builder
			for _, l := range strings.SplitAfter(ansi.Strip(painted), "\n") {
				stripped.WriteString(strings.TrimRight(strings.TrimSuffix(l, "\n"), " "))
				if strings.HasSuffix(l, "\n") {
					stripped.WriteByte('\n')
				}
			}
			if stripped.String() != plain {
				t.Fatalf("%s in %d: painted\n%s\nplain\n%s", name, w, stripped.String(), plain)
			}
		}
	})
}

var numbered = regexp.MustCompile(`(?m)^(\d+) `)

// TestEveryEventIsDrawn reads the numbers and counts back from the drawing.
func TestEveryEventIsDrawn(t *testing.T) {
	everyView(t, func(name string, v *report.View) {
		for _, w := range []int{40, 80, 132} {
			full := render(t, v, Options{Width: w, Unicode: true, Full: true})
			next, left := 0, v.Hidden
			for _, m := range numbered.FindAllStringSubmatch(table(full), -1) {
				n, _ := strconv.Atoi(m[1])
				if left -= n - next; n < next || left < 0 {
					t.Fatalf("%s in %d: event %s follows event %d\n%s", name, w, m[1], next-1, full)
				}
				next = n + 1
			}
			if next+left != v.Events {
				t.Fatalf("%s in %d: %d of %d events are drawn", name, w, next-v.Hidden+left, v.Events)
			}
			short := render(t, v, Options{Width: w, Unicode: true})
			rows := len(numbered.FindAllString(table(short), -1))
			if want := drawn(v.Rows); rows != want {
				t.Fatalf("%s in %d: %d rows are drawn, want %d\n%s", name, w, rows, want, short)
			}
			if n := report.Folded(v.Rows); n > 0 && !strings.Contains(strings.Join(strings.Fields(short), " "), fmt.Sprintf("%d events are folded", n)) {
				t.Fatalf("%s in %d: the heading does not tell of %d folded events", name, w, n)
			}
		}
	})
}

// table is the part of a drawing between the rule below the header and the ending.
func table(s string) string {
	_, s, _ = strings.Cut(s, "───\n")
	s, _, _ = strings.Cut(s, "\n\n")
	return s
}

// drawn is the number of rows that have an event's number.
func drawn(rows []report.Row) (n int) {
	for _, r := range rows {
		switch r.Kind {
		case report.EventRow, report.FoldRow:
			n++
		case report.LoopRow:
			n += drawn(r.Body)
		}
	}
	return n
}

// TestFoldedIsExact compares the count in the heading with what the rows show.
func TestFoldedIsExact(t *testing.T) {
	everyView(t, func(name string, v *report.View) {
		shown := 0
		var visit func(rows []report.Row)
		visit = func(rows []report.Row) {
			for _, r := range rows {
				if r.Kind == report.EventRow {
					shown++
				}
				visit(r.Body)
			}
		}
		visit(v.Rows)
		if shown+report.Folded(v.Rows)+v.Hidden != v.Events {
			t.Errorf("%s: %d events shown, %d folded, %d hidden, %d there", name, shown, report.Folded(v.Rows), v.Hidden, v.Events)
		}
	})
}

func TestDrawingIsDeterministic(t *testing.T) {
	everyView(t, func(name string, v *report.View) {
		o := Options{Width: 80, Color: true, Unicode: true}
		if render(t, v, o) != render(t, v, o) {
			t.Errorf("%s: two drawings differ", name)
		}
	})
}

func TestHostileText(t *testing.T) {
	v := view(t, "lost_update")
	v.Command = []string{"a\x1b[31m\u202eb\x00\x9b\xff", "c\nd\r\t\u200be"}
	v.Output = "x\x1b]0;title\x07\n" + strings.Repeat("字", 100)
	for _, o := range []Options{{Width: 40, Unicode: true}, {Width: 40}} {
		for _, r := range render(t, v, o) {
			if r < 0x20 && r != '\n' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\u202e' || r == '\u200b' {
				t.Errorf("%q was printed", r)
			}
		}
	}
}
