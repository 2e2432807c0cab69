package page

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/heddle-dev/heddle/internal/pattern"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/internal/testing/reporttest"
	"github.com/heddle-dev/heddle/trace"
)

// What is embedded is made of what is in front/.
func TestBuiltIsCurrent(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "go", "run", "./gen", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"page.js", "page.css", "compare.js", "compare.css"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("built", name))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("built/%s is not what front/ makes: go generate ./internal/report/page", name)
		}
	}
}

// steppable are the rows of the short view that a reader steps through, as the page labels them.
func steppable(v *report.View) (out []string) {
	var add func(rows []report.Row)
	add = func(rows []report.Row) {
		for i := range rows {
			r := &rows[i]
			switch r.Kind {
			case report.EventRow:
				out = append(out, fmt.Sprintf("T%d, event %d: %s", r.Thread, r.Event, r.Cell.Text))
			case report.FoldRow:
				out = append(out, fmt.Sprintf("T%d, event %d: %d events", r.Thread, r.Event, r.Events))
			case report.LoopRow:
				if len(r.Body) == 1 && r.Body[0].Kind == report.EventRow {
					out = append(out, fmt.Sprintf("T%d, event %d: %s, %d times", r.Thread, r.Event, r.Body[0].Cell.Text, r.Times))
					continue
				}
				add(r.Body)
			}
		}
	}
	add(v.Rows)
	return out
}

// Stepping through each fixture goes through its view's rows, forwards and backwards.
func TestStep(t *testing.T) {
	for _, name := range reporttest.Fixtures() {
		t.Run(name, func(t *testing.T) {
			e := fixture(t, name)
			want := steppable(e.View)
			b := open(t, html(t, e, Options{}), "", 1400, 900)
			defer b.close()
			b.keys("g")
			forwards := b.steps("j")
			if len(forwards) != len(want)+1 {
				t.Fatalf("%d steps, want %d and the end:\n%s\nwant\n%s", len(forwards), len(want), strings.Join(forwards, "\n"), strings.Join(want, "\n"))
			}
			for i, w := range want {
				if !strings.HasPrefix(forwards[i], w) {
					t.Errorf("step %d is %q, want %q", i, forwards[i], w)
				}
			}
			if end := forwards[len(want)]; end != "the end: "+e.View.Ending {
				t.Errorf("the last step is %q", end)
			}
			backwards := b.steps("k")
			slices.Reverse(backwards)
			if !slices.Equal(backwards, forwards) {
				t.Errorf("backwards:\n%s\nforwards:\n%s", strings.Join(backwards, "\n"), strings.Join(forwards, "\n"))
			}
			b.screenshot("fixture_" + name)
		})
	}
}

// With everything unfolded, each event with a row can be stepped to.
func TestUnfold(t *testing.T) {
	for _, name := range reporttest.Fixtures() {
		t.Run(name, func(t *testing.T) {
			e := fixture(t, name)
			b := open(t, html(t, e, Options{}), "", 1400, 900)
			defer b.close()
			b.keys("g")
			folded := len(b.steps("j"))
			if slices.ContainsFunc(e.View.Rows, func(r report.Row) bool { return r.Kind == report.FoldRow || r.Kind == report.LoopRow }) {
				b.keys("a")
			}
			b.keys("g")
			var want []string
			for _, r := range e.View.Full() {
				if r.Cell != nil {
					want = append(want, fmt.Sprintf("T%d, event %d: %s", r.Thread, r.Event, r.Cell.Text))
				}
			}
			got := b.steps("j")
			if len(got) != len(want)+1 {
				t.Fatalf("%d steps, want %d and the end", len(got), len(want))
			}
			for i, w := range want {
				if !strings.HasPrefix(got[i], w) {
					t.Errorf("step %d is %q, want %q", i, got[i], w)
				}
			}
			if len(want)+1 != folded {
				b.keys("a")
				b.keys("g")
				if n := len(b.steps("j")); n != folded {
					t.Errorf("folded again, %d steps, were %d", n, folded)
				}
			}
		})
	}
}

// Enter unfolds a loop, and folds it again from inside.
func TestFold(t *testing.T) {
	e := fixture(t, "loops")
	i := slices.IndexFunc(e.View.Rows, func(r report.Row) bool { return r.Kind == report.LoopRow })
	loop := e.View.Rows[i]
	b := open(t, html(t, e, Options{}), fmt.Sprintf("#e%d", loop.Event), 1400, 900)
	defer b.close()
	rows := func() int { return eval[int](b, `heddle.pane.rows.length`) }
	before := rows()
	b.keys("\r")
	if open := rows(); open <= before {
		t.Errorf("%d rows, %d after unfolding", before, open)
	}
	b.keys("\r")
	if again := rows(); again != before {
		t.Errorf("%d rows, %d after folding again", before, again)
	}
	b.keys("Z")
	switches := 0
	for _, r := range e.View.Rows {
		if r.Kind == report.SwitchRow {
			switches++
		}
	}
	// A row for each interval, the switches between them, and the end.
	if n := rows(); n != 2*switches+2 {
		t.Errorf("with all intervals folded, %d rows; %d switches", n, switches)
	}
	b.keys("Z")
	if again := rows(); again != before {
		t.Errorf("%d rows, %d after unfolding the intervals", before, again)
	}
}

// Following an object steps through its events and no others.
func TestFollow(t *testing.T) {
	e := fixture(t, "lost_update")
	var want []int
	for i := range e.Trace.Events {
		if op := e.Trace.Events[i].Op; op == trace.OpRead || op == trace.OpWrite {
			want = append(want, i)
		}
	}
	b := open(t, html(t, e, Options{}), fmt.Sprintf("#e%d", want[0]), 1400, 900)
	defer b.close()
	b.keys("f")
	if s := eval[string](b, `document.querySelector('.status').textContent`); s != fmt.Sprintf("following account.balance: %d events", len(want)) {
		t.Errorf("status is %q", s)
	}
	steps := b.steps("j")
	if len(steps) != len(want)+1 {
		t.Fatalf("steps: %q", steps)
	}
	for i, w := range want {
		if !strings.HasPrefix(steps[i], fmt.Sprintf("T%d, event %d:", e.Trace.Events[w].Thread, w)) {
			t.Errorf("step %d is %q, want event %d", i, steps[i], w)
		}
	}
	if eval[int](b, `document.querySelectorAll('.row.aside').length`) == 0 {
		t.Error("events of other objects are not faint")
	}
	b.screenshot("follow")
	b.keys("f")
	if n := eval[int](b, `document.querySelectorAll('.row.aside').length`); n != 0 {
		t.Errorf("%d rows are faint after following has ended", n)
	}
}

// An address names an event; stepping changes it; what is not there is said.
func TestLink(t *testing.T) {
	e := fixture(t, "lost_update")
	page := html(t, e, Options{})
	b := open(t, page, "#e7", 1400, 900)
	defer b.close()
	if got := b.current(); !strings.HasPrefix(got, "T2, event 7: write account.balance ← 140") {
		t.Errorf("the current event is %q", got)
	}
	if source := eval[string](b, `document.querySelector('.here').textContent`); !strings.Contains(source, "account.balance = seen") {
		t.Errorf("the source line is %q", source)
	}
	b.keys("j")
	if hash := eval[string](b, `location.hash`); hash != "#e8" {
		t.Errorf("the address ends with %q", hash)
	}
	b.do(chromedp.Evaluate(`location.hash = '#e5'`, nil), chromedp.Poll(`document.querySelector('.row.current').getAttribute('aria-label').includes('event 5')`, nil))
	b.do(chromedp.Evaluate(`location.hash = '#e500'`, nil), chromedp.Poll(`document.querySelector('.status').textContent === 'there is no event 500'`, nil))
}

// Search finds text, places and numbers, and goes on from there.
func TestSearch(t *testing.T) {
	b := open(t, html(t, fixture(t, "lost_update"), Options{}), "#e0", 1400, 900)
	defer b.close()
	// A browser does not enter the slash; the debugging protocol would.
	slash := func() {
		b.do(chromedp.Evaluate(`document.querySelector('.scroller').dispatchEvent(new KeyboardEvent('keydown', {key: '/', bubbles: true}))`, nil))
	}
	for _, c := range []struct{ query, want string }{
		{"WRITE account", "T2, event 7:"}, {"", "T1, event 9:"}, {"", "T2, event 7:"}, {"pthread_join(t[1]", "T0, event 12:"}, {"#4", "T1, event 4:"}, {"lost.c:19", "T0, event 13:"},
	} {
		slash()
		b.keys(cmp.Or(c.query, kb.Backspace))
		b.keys("\r")
		if got := b.current(); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q leads to %q, want %q", c.query, got, c.want)
		}
	}
	slash()
	b.keys("nowhere")
	b.keys("\r")
	if s := eval[string](b, `document.querySelector('.status').textContent`); s != "no event has nowhere" {
		t.Errorf("status is %q", s)
	}
}

// Switches are stepped through, preemptions apart from the others.
func TestSwitches(t *testing.T) {
	e := fixture(t, "lost_update")
	b := open(t, html(t, e, Options{}), "#e0", 1400, 900)
	defer b.close()
	var all, preemptions []int
	for _, r := range e.View.Full() {
		if r.Switch != nil {
			all = append(all, r.Event)
			if r.Switch.Reason == report.Preempted {
				preemptions = append(preemptions, r.Event)
			}
		}
	}
	if len(preemptions) == 0 || len(preemptions) == len(all) {
		t.Fatalf("switches %v, preemptions %v", all, preemptions)
	}
	for key, want := range map[string][]int{"n": all, "N": preemptions} {
		b.keys("g")
		for _, w := range want {
			b.keys(key)
			if got := eval[int](b, `heddle.pane.selected`); got != w {
				t.Errorf("%s leads to event %d, want %d", key, got, w)
			}
		}
		b.keys(key)
		if s := eval[string](b, `document.querySelector('.status').textContent`); !strings.HasPrefix(s, "no later") {
			t.Errorf("after the last one, status is %q", s)
		}
	}
	if n := eval[int](b, `document.querySelectorAll('.row.preempted').length`); n != len(preemptions) {
		t.Errorf("%d rows are drawn as preemptions, want %d", n, len(preemptions))
	}
}

// explained is the lost update with its explanation and an execution without it.
func explained(t testing.TB) (Execution, Options) {
	e := fixture(t, "lost_update")
	tr, names := reporttest.Load(t, "lost_update")
	// T1 writes before T2 reads: events 5 to 8 are T2's, 9 and 10 T1's.
	events := slices.Clone(tr.Events)
	tr.Events = append(append(slices.Clone(events[:5]), events[9:11]...), append(slices.Clone(events[5:9]), events[11:13]...)...)
	tr.Ending = trace.Ending{Kind: trace.Clean}
	passing := Execution{Trace: tr, View: report.Build(tr, names, report.Options{}), Source: report.SourcesOf(tr, report.Options{}).Line}
	return e, Options{
		Trace: "lost.hdl", Passing: &passing, Commands: []Command{
			{Does: "replay it", Text: "heddle replay lost.hdl"},
			{Does: "in gdb", Text: "heddle replay --gdb lost.hdl", At: "heddle replay --gdb --at EVENT lost.hdl"},
		},
		Explanation: &report.Explanation{
			Pattern: pattern.LostUpdate, Text: "The execution fails because T2's read comes before T1's write.",
			Orders: []report.Order{{First: 6, Second: 9, Object: "account.balance", Controlled: true, Executions: 2}},
		},
	}
}

// Below an order stands what happened with it turned, or with two orders turned that belong together.
func TestTurned(t *testing.T) {
	e, o := explained(t)
	again := o.Explanation.Orders[0]
	again.Together, again.Executions = true, 13
	doubtful := again
	doubtful.Together, doubtful.Failed = false, 2
	o.Explanation.Orders = append(o.Explanation.Orders, again, doubtful)
	b := open(t, html(t, e, o), "", 1700, 950)
	defer b.close()
	got := eval[[]string](b, `[...document.querySelectorAll('.orders .count')].map(c => c.textContent)`)
	want := []string{"the other way round it does not fail: 2 executions", "with both orders turned it does not fail: 13 executions", "the other way round it fails in 2 of 13 executions"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The critical order is marked in both executions; they are side by side and aligned.
func TestCritical(t *testing.T) {
	e, o := explained(t)
	b := open(t, html(t, e, o), "", 1700, 950)
	defer b.close()
	if got := b.current(); !strings.HasPrefix(got, "T2, event 6:") || !strings.HasSuffix(got, "of critical order 1") {
		t.Errorf("the page begins at %q", got)
	}
	if n := eval[int](b, `document.querySelectorAll('.pane.fails path.order').length`); n != 1 {
		t.Errorf("%d arrows for the critical order", n)
	}
	for pane, want := range map[string][]string{"fails": {"T2, event 6:", "T1, event 9:"}, "passes": {"T1, event 5:", "T2, event 8:"}} {
		got := eval[[]string](b, fmt.Sprintf(`[...document.querySelectorAll('.pane.%s .row.critical')].map(r => r.getAttribute('aria-label'))`, pane))
		if len(got) != 2 || !strings.HasPrefix(got[0], want[0]) || !strings.HasPrefix(got[1], want[1]) {
			t.Errorf("%s: critical rows are %q, want %q", pane, got, want)
		}
	}
	// The same event is selected in the other one.
	if got := eval[int](b, `heddle.panes[1].selected`); got != 8 {
		t.Errorf("in the passing execution, event %d is selected", got)
	}
	// An event that the other one lacks is beside the last one before it that both have.
	if got := eval[[]int](b, `(() => {
	  const all = heddle.same[0].slice();
	  heddle.same[0].fill(-1, 3);
	  const there = [2, 4, 6, 12].map(e => heddle.counterpart(0, e));
	  heddle.same[0].set(all);
	  return there;
	})()`); !slices.Equal(got, []int{2, 2, 8, 2}) {
		t.Errorf("events 2, 4, 6 (of the order) and 12 have the counterparts %v", got)
	}
	// The command for a debugger is that for the selected event of the execution that fails.
	debug := func() []string {
		return eval[[]string](b, `[...document.querySelectorAll('.panel .do button[title]')].map(x => x.textContent + ': ' + x.title)`)
	}
	if got, want := debug(), []string{"debug here in gdb: copies: heddle replay --gdb --at 6 lost.hdl"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	b.keys("c")
	if got, want := debug(), []string{"debug here in gdb: copies: heddle replay --gdb --at 9 lost.hdl"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := eval[int](b, `heddle.pane.selected`); got != 9 {
		t.Errorf("c leads to event %d", got)
	}
	b.screenshot("critical_light")
	b.keys("t")
	b.screenshot("critical_dark")
	b.keys("\t")
	b.keys("G")
	if hash := eval[string](b, `location.hash`); hash != fmt.Sprintf("#p%d", len(o.Passing.Trace.Events)) {
		t.Errorf("in the other execution, the address ends with %q", hash)
	}
	b.keys("o")
	if !eval[bool](b, `document.querySelector('.pane.passes').hidden`) {
		t.Error("o does not hide the passing execution")
	}
	b.do(chromedp.Click(".orders .chip", chromedp.ByQuery))
	if got := eval[int](b, `heddle.pane.selected`); got != 6 {
		t.Errorf("the first event of the order leads to %d", got)
	}
}

// Arrows lead from what happened immediately before in other threads.
func TestArrows(t *testing.T) {
	e := fixture(t, "lost_update")
	start := slices.IndexFunc(e.Trace.Events, func(ev trace.Event) bool { return ev.Thread == 1 && ev.Op == trace.OpThreadStart })
	b := open(t, html(t, e, Options{}), fmt.Sprintf("#e%d", start), 1400, 900)
	defer b.close()
	count := func() int { return eval[int](b, `document.querySelectorAll('path.hb').length`) }
	if n := count(); n != 1 {
		t.Errorf("%d arrows at the start of a thread, want 1 from its creation", n)
	}
	b.keys("h")
	if n := count(); n <= 1 {
		t.Errorf("%d arrows in all", n)
	}
	b.keys("h")
	if n := count(); n != 0 {
		t.Errorf("%d arrows after they were hidden", n)
	}
}

// Values and locks are those after the selected event.
func TestValues(t *testing.T) {
	b := open(t, html(t, fixture(t, "lost_update"), Options{}), "#e7", 1400, 900)
	defer b.close()
	for _, want := range []string{"account.balance100 140T2 #7", "account.balance140T2 #7", "account.balance140 120T1 #9"} {
		if got := eval[string](b, `document.querySelector('.values tr').textContent`); got != want {
			t.Errorf("values are %q, want %q", got, want)
		}
		b.keys("j")
		if b.current() == "" {
			t.Fatal("nothing is selected")
		}
	}
	l := open(t, html(t, fixture(t, "deadlock"), Options{}), "", 1400, 900)
	defer l.close()
	l.keys("G")
	if got := eval[int](l, `document.querySelectorAll('.locks li').length`); got < 2 {
		t.Errorf("at the end of a deadlock, %d locks are held", got)
	}
}

// What a program prints, or is called, is text on the page.
func TestEscapes(t *testing.T) {
	hostile := `</script><script>window.hacked = 1</script><img src=x onerror="window.hacked = 1">` + "\u2028<!--"
	e := fixture(t, "lost_update")
	v := *e.View
	v.Ending, v.Output, v.Command, v.Notes = hostile, hostile, []string{hostile}, []string{hostile}
	v.Columns = slices.Clone(v.Columns)
	v.Columns[1].Name = hostile
	v.Places = slices.Clone(v.Places)
	for i := range v.Places {
		v.Places[i].Text, v.Places[i].File = hostile, hostile
	}
	rows := slices.Clone(v.Rows)
	for i := range rows {
		if rows[i].Cell != nil {
			c := *rows[i].Cell
			c.Text, c.Object, c.After = hostile, hostile, hostile
			rows[i].Cell = &c
		}
	}
	v.Rows = rows
	e.View = &v
	e.Source = func(string, int) (string, bool) { return hostile, true }
	out := html(t, e, Options{Trace: hostile, Explanation: &report.Explanation{Text: hostile, Pattern: hostile}, Commands: []Command{{hostile, hostile, hostile}}})
	if bytes.Contains(out, []byte("<img")) || bytes.Count(out, []byte("<script")) != 2 {
		t.Error("a string of the program is markup")
	}
	b := open(t, out, "", 1400, 900)
	defer b.close()
	b.steps("j")
	if eval[bool](b, `'hacked' in window || document.images.length > 0 || document.scripts.length !== 2`) {
		t.Error("a string of the program was executed")
	}
	if title := eval[string](b, `document.querySelector('h1').textContent`); title != hostile {
		t.Errorf("the headline is %q", title)
	}
}

// Every text can be read: WCAG's contrast of 4.5 (AA), in both schemes; and every control has a name.
func TestAccessible(t *testing.T) {
	e, o := explained(t)
	b := open(t, html(t, e, o), "", 1700, 950)
	defer b.close()
	for _, scheme := range []string{"light", "dark"} {
		b.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
		for _, problem := range eval[[]string](b, contrast) {
			t.Errorf("%s: %s", scheme, problem)
		}
	}
	for _, query := range []string{"header", "main", "aside[aria-label]", "footer", "section[aria-label]", "h1", "[role=listbox][aria-label][aria-activedescendant]", "[role=status]", "html[lang]", ".skip"} {
		if eval[int](b, fmt.Sprintf(`document.querySelectorAll(%q).length`, query)) == 0 {
			t.Errorf("there is no %s", query)
		}
	}
	if n := eval[int](b, `[...document.querySelectorAll('button, input, summary')].filter(x => !(x.textContent.trim() || x.getAttribute('aria-label'))).length`); n > 0 {
		t.Errorf("%d controls have no name", n)
	}
	if ok := eval[bool](b, `(() => { const id = document.querySelector('.pane.focus .scroller').getAttribute('aria-activedescendant'); return document.getElementById(id)?.getAttribute('aria-selected') === 'true'; })()`); !ok {
		t.Error("the active row is not the selected one")
	}
}

// contrast returns the texts in sight whose contrast with their background is too low.
const contrast = `(() => {
  const dot = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const parse = (s) => { dot.clearRect(0, 0, 1, 1); dot.fillStyle = s; dot.fillRect(0, 0, 1, 1); const [r, g, b, a] = dot.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255]; };
  const over = (top, under) => top.slice(0, 3).map((c, i) => c * top[3] + under[i] * (1 - top[3]));
  const light = (c) => { const [r, g, b] = c.map((x) => { x /= 255; return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const out = new Set();
  for (const e of document.querySelectorAll('body *')) {
    if (![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim()) || !e.checkVisibility() || e.closest('dialog, .skip')) continue;
    const layers = [];
    for (let x = e; x; x = x.parentElement) layers.push(parse(getComputedStyle(x).backgroundColor));
    let ground = [255, 255, 255];
    for (const l of layers.reverse()) ground = over(l, ground);
    const ink = over(parse(getComputedStyle(e).color), ground);
    const [a, b] = [light(ink), light(ground)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) out.add(e.tagName + '.' + e.className + ' ' + ratio.toFixed(2) + ' ' + e.textContent.slice(0, 30));
  }
  return [...out];
})()`

// On paper, all rows are drawn.
func TestPrint(t *testing.T) {
	e := fixture(t, "twenty")
	b := open(t, html(t, e, Options{}), "", 1000, 400)
	defer b.close()
	drawn := func() int { return eval[int](b, `document.querySelectorAll('.row').length`) }
	all := eval[int](b, `heddle.pane.rows.length`)
	if n := drawn(); n >= all {
		t.Fatalf("%d of %d rows are drawn on the screen: too few for this test", n, all)
	}
	b.do(chromedp.Evaluate(`dispatchEvent(new Event('beforeprint'))`, nil))
	if n := drawn(); n != all {
		t.Errorf("%d of %d rows are drawn for printing", n, all)
	}
	b.do(chromedp.Evaluate(`dispatchEvent(new Event('afterprint'))`, nil))
	if n := drawn(); n >= all {
		t.Errorf("after printing, %d of %d rows are drawn", n, all)
	}
}

// On paper, a long execution has what was in sight, what is around the cause, and the end.
func TestPrintLong(t *testing.T) {
	tr, names := reporttest.Random(t, 7, 6, 20_000)
	e := Execution{Trace: tr, View: report.Build(tr, names, report.Options{})}
	var near []int // events that are not folded
	for _, r := range e.View.Rows {
		if r.Kind == report.EventRow && r.Event > 4000 {
			near = append(near, r.Event)
		}
	}
	b := open(t, html(t, e, Options{Explanation: &report.Explanation{Orders: []report.Order{{First: near[0], Second: near[5]}}}}), "#e12000", 1000, 700)
	defer b.close()
	sight := eval[[]string](b, `[...document.querySelectorAll('.row')].map(r => r.getAttribute('aria-label'))`)
	b.do(chromedp.Evaluate(`dispatchEvent(new Event('beforeprint'))`, nil))
	rows := eval[[]string](b, `[...document.querySelectorAll('.row')].map(r => r.getAttribute('aria-label') ?? r.textContent)`)
	for _, s := range sight {
		if !slices.Contains(rows, s) {
			t.Errorf("%q was in sight and is not on the paper", s)
		}
	}
	for _, want := range []string{fmt.Sprintf(", event %d: ", near[0]), fmt.Sprintf(", event %d: ", near[5]), "the end: "} {
		if !slices.ContainsFunc(rows, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("%q is not on the paper", want)
		}
	}
	if n := eval[int](b, `document.querySelectorAll('.row.left').length`); n != 3 {
		t.Errorf("rows are left out in %d places, want 3", n)
	}
	if ok := eval[bool](b, `[...document.querySelectorAll('.row')].every((r, i) => r.offsetTop === i * r.offsetHeight) && heddle.pane.canvas.offsetHeight === document.querySelectorAll('.row').length * 26`); !ok {
		t.Error("the rows on the paper are not one below the other")
	}
	b.do(chromedp.Evaluate(`dispatchEvent(new Event('afterprint'))`, nil))
	if again := eval[[]string](b, `[...document.querySelectorAll('.row')].map(r => r.getAttribute('aria-label'))`); !slices.Equal(again, sight) {
		t.Errorf("after printing, %d rows are in sight, before %d", len(again), len(sight))
	}
	var pdf []byte
	b.do(chromedp.ActionFunc(func(ctx context.Context) (err error) {
		pdf, _, err = cdppage.PrintToPDF().Do(ctx)
		return err
	}))
	if n := len(regexp.MustCompile(`/Type\s*/Page\b`).FindAll(pdf, -1)); n < 2 || n > 12 {
		t.Errorf("%d pages", n)
	}
}

// A filter leaves the rows of a thread, of an object, of a text, or of the followed object.
func TestFilter(t *testing.T) {
	e := fixture(t, "lost_update")
	b := open(t, html(t, e, Options{}), "#e6", 1400, 900)
	defer b.close()
	all := eval[int](b, `heddle.pane.rows.length`)
	rows := func() []string {
		return eval[[]string](b, `[...document.querySelectorAll('.row')].map(r => r.getAttribute('aria-label'))`)
	}
	check := func(what string, is func(thread trace.ThreadID, c *report.Cell) bool) {
		t.Helper()
		var want []string
		for _, r := range e.View.Full() {
			if r.Cell != nil && is(r.Thread, r.Cell) {
				want = append(want, fmt.Sprintf("T%d, event %d: %s", r.Thread, r.Event, r.Cell.Text))
			}
		}
		got := rows()
		if len(got) != len(want)+1 {
			t.Fatalf("%s: rows %q, want %q and the end", what, got, want)
		}
		for i, w := range want {
			if !strings.HasPrefix(got[i], w) {
				t.Errorf("%s: row %q, want %q", what, got[i], w)
			}
		}
	}
	for query, is := range map[string]func(trace.ThreadID, *report.Cell) bool{
		"T1":                     func(th trace.ThreadID, _ *report.Cell) bool { return th == 1 },
		"write t2":               func(th trace.ThreadID, c *report.Cell) bool { return th == 2 && strings.Contains(c.Text, "write") },
		"object:account.balance": func(_ trace.ThreadID, c *report.Cell) bool { return c.Object == "account.balance" },
		"CREATE": func(_ trace.ThreadID, c *report.Cell) bool {
			return strings.Contains(c.Text, "create") || strings.Contains(e.View.Places[c.Place].Text, "create")
		},
	} {
		b.do(chromedp.Evaluate(fmt.Sprintf(`heddle.input.value = %q`, query), nil))
		b.keys("F")
		check(query, is)
		b.keys("F")
		if n := eval[int](b, `heddle.pane.rows.length`); n != all {
			t.Errorf("without the filter %d rows, want %d", n, all)
		}
	}
	b.do(chromedp.Evaluate(`heddle.input.value = ''; heddle.select(heddle.pane, 6, true)`, nil))
	b.keys("f")
	b.keys("F")
	check("followed", func(_ trace.ThreadID, c *report.Cell) bool { return c.Object == "account.balance" })
	b.keys("F")
	b.do(chromedp.Click(".head:nth-child(3)", chromedp.ByQuery))
	check("a thread's head", func(th trace.ThreadID, _ *report.Cell) bool { return th == 2 })
	b.screenshot("filter")
}

// Values are decimal, and hexadecimal under the pointer.
func TestHex(t *testing.T) {
	b := open(t, html(t, fixture(t, "lost_update"), Options{}), "#e7", 1400, 900)
	defer b.close()
	for query, want := range map[string]string{
		".row.current .box":    "write account.balance ← 140  (0x8c)",
		".panel .what":         "T2 teller: write account.balance ← 140  (0x8c)",
		".values tr td[title]": "0x8c",
	} {
		if got := eval[string](b, fmt.Sprintf(`document.querySelector(%q).title`, query)); got != want {
			t.Errorf("%s has %q, want %q", query, got, want)
		}
	}
}

// Without an explanation, the page begins at the last preemption.
func TestBegin(t *testing.T) {
	for _, name := range []string{"lost_update", "deadlock"} {
		e := fixture(t, name)
		b := open(t, html(t, e, Options{}), "", 1400, 900)
		want := -1
		for _, r := range e.View.Full() {
			if r.Switch != nil && r.Switch.Reason == report.Preempted {
				want = r.Event
			}
		}
		if got := eval[int](b, `heddle.pane.selected`); got != want || want < 0 {
			t.Errorf("%s begins at event %d, want %d", name, got, want)
		}
		b.close()
	}
}

// Where an execution has more rows than a browser can draw in one element, the scroll bar still leads to each of them.
func TestTall(t *testing.T) {
	b := open(t, large(t, 10_000), "", 1400, 900)
	defer b.close()
	b.do(chromedp.Evaluate(`heddle.pane.tallest = 30000; heddle.layOut()`, nil))
	if h := eval[int](b, `heddle.pane.canvas.offsetHeight`); h != 30000 {
		t.Fatalf("the table is %d pixels high", h)
	}
	const inSight = `(() => {
	  const box = document.querySelector('.scroller').getBoundingClientRect(), row = document.querySelector('.row.current')?.getBoundingClientRect();
	  return Boolean(row) && row.top >= box.top && row.bottom <= box.bottom;
	})()`
	rows := eval[int](b, `heddle.pane.rows.length`)
	for _, key := range []string{"G", "k", "g", "j", "n", "N"} {
		b.keys(key)
		if !eval[bool](b, inSight) {
			t.Errorf("after %s the current row is not in sight", key)
		}
	}
	for i := range 10 {
		b.do(chromedp.Evaluate(fmt.Sprintf(`heddle.select(heddle.pane, %d, true)`, 9999-i*1000), nil))
		if !eval[bool](b, inSight) {
			t.Errorf("event %d is not in sight", 9999-i*1000)
		}
	}
	// By the scroll bar to the end, and to the beginning.
	for where, want := range map[string]string{"1e9": fmt.Sprint(rows), "0": "1"} {
		b.do(chromedp.Evaluate(fmt.Sprintf(`heddle.pane.scroller.scrollTop = %s; heddle.pane.draw()`, where), nil))
		if got := eval[[]string](b, `[...document.querySelectorAll('.row')].map(r => r.getAttribute('aria-posinset'))`); !slices.Contains(got, want) {
			t.Errorf("scrolled to %s, rows %s to %s are drawn", where, got[0], got[len(got)-1])
		}
	}
}

// A narrow window has everything, one below the other.
func TestNarrow(t *testing.T) {
	e, o := explained(t)
	b := open(t, html(t, e, o), "", 420, 800)
	defer b.close()
	if eval[bool](b, `document.documentElement.scrollWidth > innerWidth`) {
		t.Error("the page is wider than the window")
	}
	if !eval[bool](b, `document.querySelector('.panel').getBoundingClientRect().top >= document.querySelector('.panes').getBoundingClientRect().bottom - 1`) {
		t.Error("the panel is not below the table")
	}
	b.screenshot("narrow")
}

// large is a page of a random execution with so many events.
func large(t testing.TB, events int) []byte {
	tr, names := reporttest.Random(t, 7, 6, events)
	return html(t, Execution{Trace: tr, View: report.Build(tr, names, report.Options{})}, Options{})
}

// timing returns how many milliseconds the page took until the first rows were there, and the median of steps.
func (b *browser) timing() (paint, step float64) {
	b.t.Helper()
	b.do(chromedp.Poll(`performance.getEntriesByName('first-contentful-paint').length > 0`, nil))
	paint = eval[float64](b, `performance.getEntriesByName('first-contentful-paint')[0].startTime`)
	b.do(chromedp.Evaluate(`(() => {
	  const took = [];
	  for (let i = 0; i < 60; i++) { const t = performance.now(); heddle.step(i % 20 === 19 ? -1 : 1); heddle.pane.draw(); took.push(performance.now() - t); }
	  return took.sort((a, b) => a - b)[30];
	})()`, &step))
	return paint, step
}

// In a page of 100,000 events a step takes at most so much longer than in one of 1,000.
func TestSpeedLarge(t *testing.T) {
	need.Speed(t)
	small := open(t, large(t, 1000), "", 1400, 900)
	defer small.close()
	b := open(t, large(t, 100_000), "", 1400, 900)
	defer b.close()
	best := math.Inf(1)
	for range need.Tries {
		_, quick := small.timing()
		_, step := b.timing()
		t.Logf("a step takes %.2f ms, of 1,000 events %.2f ms", step, quick)
		if best = min(best, step/max(quick, 0.5)); best <= 12 {
			return
		}
	}
	t.Errorf("a step takes %.1f times as long as in a page of 1,000 events", best)
}

// A page of 100,000 events is usable.
func TestLarge(t *testing.T) {
	b := open(t, large(t, 100_000), "", 1400, 900)
	defer b.close()
	if n := eval[int](b, `document.querySelectorAll('.row').length`); n > 200 {
		t.Errorf("%d rows have elements", n)
	}
	b.do(chromedp.Evaluate(`heddle.search('#60,000')`, nil))
	if got := b.current(); !strings.Contains(got, "event "+strconv.Itoa(eval[int](b, `heddle.pane.selected`))) {
		t.Errorf("far away, the current row is %q", got)
	}
	b.do(chromedp.Evaluate(`heddle.filter('t2 write')`, nil))
	if n, other := eval[int](b, `heddle.pane.rows.length`), eval[int](b, `heddle.pane.rows.filter((r) => r.kind !== 'end' && heddle.pane.run.thread(r) !== 2).length`); n < 100 || other > 0 {
		t.Errorf("%d rows of T2, %d of others", n, other)
	}
	b.do(chromedp.Evaluate(`heddle.filter('')`, nil))
	b.keys("a")
	b.keys("G")
	if got := b.current(); !strings.HasPrefix(got, "the end") {
		t.Errorf("the last row is %q", got)
	}
	b.screenshot("large")
}

// spent is how many milliseconds of processor time the page's process has used.
func (b *browser) spent() (ms float64) {
	b.t.Helper()
	b.do(performance.Enable(), chromedp.Poll(`document.querySelector('.row.current') !== null`, nil), chromedp.ActionFunc(func(ctx context.Context) error {
		all, err := performance.GetMetrics().Do(ctx)
		for _, m := range all {
			if m.Name == "ProcessTime" {
				ms = 1000 * m.Value
			}
		}
		return err
	}))
	return ms
}

func BenchmarkPage(b *testing.B) {
	for _, n := range []int{100, 1000, 5000, 10_000, 100_000, 500_000, 1_000_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			tr, names := reporttest.Random(b, 7, 6, n)
			e := Execution{Trace: tr, View: report.Build(tr, names, report.Options{})}
			var out []byte
			for b.Loop() {
				out = html(b, e, Options{})
			}
			b.ReportMetric(float64(len(out))/1000, "kB")
			shown := open(b, out, "", 1400, 900)
			b.ReportMetric(shown.spent(), "open-ms")
			_, step := shown.timing()
			b.ReportMetric(step, "step-ms")
			b.ReportMetric(eval[float64](shown, `(() => { const t = performance.now(); heddle.search('occurs nowhere'); return performance.now() - t; })()`), "search-ms")
			b.ReportMetric(eval[float64](shown, `performance.memory.usedJSHeapSize / 1e6`), "heap-MB")
			shown.keys("G")
			if got := shown.current(); !strings.HasPrefix(got, "the end") {
				b.Errorf("the last row is %q", got)
			}
		})
	}
}
