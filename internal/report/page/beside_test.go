package page

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// besideOf is what heddle compare prints of a failure, with a name in it.
func besideOf(name string) map[string]any {
	event := func(number int, thread, text string) map[string]any {
		return map[string]any{"event": number, "thread": thread, "text": text, "where": name}
	}
	same := func(n int) map[string]any {
		return map[string]any{"kind": "same", "failing": event(n, "T0", "lock m"), "passing": event(n, "T0", "lock m")}
	}
	return map[string]any{
		"why": "lost update of sum [events 2 and 3]", "turned": true, "same": 2, "executions": 2,
		"failing": map[string]any{"trace": "bad.hdl", "ending": "assertion " + name, "events": 6, "replay": "heddle replay bad.hdl"},
		"passing": map[string]any{"trace": "good.hdl", "ending": "exit status 0", "events": 5, "replay": "heddle replay good.hdl"},
		"order":   map[string]any{"failing": event(2, "T1", "read sum → 0"), "passing": event(2, "T2", "read sum → 0")},
		"value": map[string]any{
			"failing": event(2, "T1", "read sum → 0"), "passing": event(4, "T1", "read sum → 1"),
			"wrote": map[string]any{"passing": event(3, "T2", "write sum ← 1")},
		},
		"stops": []any{map[string]any{"thread": "T0", "failing": "assertion " + name}},
		"rows": []any{
			map[string]any{"kind": "fold", "events": 2, "equal": 2, "rows": []any{same(0), same(1)}},
			map[string]any{"kind": "failing", "failing": event(2, "T1", "read sum → 0"), "there": event(4, "T1", "read sum → 1"), "later": true, "differs": true},
			map[string]any{"kind": "passing", "passing": event(4, "T1", "read sum → 1"), "there": event(2, "T1", "read sum → 0"), "differs": true},
			map[string]any{"kind": "value", "failing": event(5, "T1", "write sum ← 1"), "passing": event(5, "T1", "write sum ← 2"), "differs": true},
			map[string]any{"kind": "passing", "passing": event(6, "T0", "lock m"), "waits": true},
		},
	}
}

// The page says what differs first, and its table has both executions, whose folds open.
func TestBeside(t *testing.T) {
	var out bytes.Buffer
	if err := RenderBeside(&out, "bad.hdl", besideOf("sum.c:12")); err != nil {
		t.Fatal(err)
	}
	b := open(t, out.Bytes(), "", 1300, 800)
	defer b.close()
	text := func(query string) string {
		return eval[string](b, fmt.Sprintf(`document.querySelector(%q).textContent`, query))
	}
	if got := text("h1"); got != "lost update of sum [events 2 and 3]" {
		t.Errorf("the headline is %q", got)
	}
	if got, want := text(".told"), "endingfails: assertion sum.c:12passes: exit status 0"+
		"orderafter 2 equal eventsfails: T1 read sum → 0 at sum.c:12 (event 2)passes: T2 read sum → 0 at sum.c:12 (event 2)"+
		"valuefails: T1 read sum → 0 at sum.c:12 (event 2)passes: T1 read sum → 1 at sum.c:12 (event 4), after T2 write sum ← 1 at sum.c:12 (event 3)"+
		"failurefails: assertion sum.c:12passes: T0 does nothing more there"; got != want {
		t.Errorf("the page begins with %q, want %q", got, want)
	}
	rows := func() []string {
		return eval[[]string](b, `[...document.querySelectorAll('.beside tbody tr')].map(r => [...r.cells].map(c => c.textContent).join('|'))`)
	}
	want := "… 2 equal events\n2|T1 read sum → 0|<||↓ 4: read sum → 1|sum.c:12\n|↑ 2: read sum → 0|>|4|T1 read sum → 1|sum.c:12\n" +
		"5|T1 write sum ← 1|≠|5|T1 write sum ← 2|sum.c:12\n|T0 waits|>|6|T0 lock m|sum.c:12"
	if got := strings.Join(rows(), "\n"); got != want {
		t.Errorf("the table is\n%s\nwant\n%s", got, want)
	}
	if got := eval[[]float64](b, `[...document.querySelector('.beside tr.value').cells].map(c => c.offsetWidth)`); got[1] < 4*got[0] || got[1] < 4*got[2] {
		t.Errorf("the cells are %v wide", got)
	}
	selected := func() string {
		return eval[string](b, `document.querySelector('[aria-selected="true"]')?.className ?? ''`)
	}
	b.keys("j")
	first := selected()
	b.keys("jj")
	if got := selected(); first != "failing" || got != "value" {
		t.Errorf("j goes to a row of kind %q, then %q", first, got)
	}
	b.keys("k")
	if got := selected(); got != "passing" {
		t.Errorf("k goes back to %q", got)
	}
	b.do(chromedp.Click(".fold button", chromedp.ByQuery))
	if got := rows(); len(got) != 6 || got[1] != "1|T0 lock m||1|T0 lock m|sum.c:12" {
		t.Errorf("an open fold: %q", got)
	}
	for _, scheme := range []string{"light", "dark"} {
		b.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
		for _, problem := range eval[[]string](b, contrast) {
			t.Errorf("%s: %s", scheme, problem)
		}
		b.screenshot("beside_" + scheme)
	}
	b.do(chromedp.EmulateViewport(500, 900))
	if got := eval[float64](b, `document.documentElement.scrollWidth`); got > 500 {
		t.Errorf("in 500 pixels the page is %v wide", got)
	}
	b.screenshot("beside_narrow")
}

// Much data is compressed, whatever the execution of the failure has.
func TestBesideLong(t *testing.T) {
	c := besideOf("sum.c:12")
	fold := c["rows"].([]any)[0].(map[string]any)
	row := fold["rows"].([]any)[0]
	many := make([]any, 20_000)
	for i := range many {
		many[i] = row
	}
	fold["rows"], fold["events"], fold["equal"] = many, len(many), len(many)
	var out bytes.Buffer
	if err := RenderBeside(&out, "bad.hdl", c); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 200_000 {
		t.Errorf("the page has %d bytes", out.Len())
	}
	b := open(t, out.Bytes(), "", 1300, 800)
	defer b.close()
	if got := eval[string](b, `document.querySelector('.beside tbody tr').textContent`); got != "… 20,000 equal events" {
		t.Errorf("the table begins with %q", got)
	}
}

// Names of the program are text, and long ones do not make the page wider.
func TestBesideNames(t *testing.T) {
	for _, name := range []string{"</script><img src=x onerror='window.hacked=1'>", strings.Repeat("a_program_with_a_long_name", 8)} {
		var out bytes.Buffer
		if err := RenderBeside(&out, name, besideOf(name)); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(out.Bytes(), []byte("<img")) {
			t.Error("a name is markup")
		}
		b := open(t, out.Bytes(), "", 500, 900)
		if eval[bool](b, `'hacked' in window || document.images.length > 0`) {
			t.Error("a name was executed")
		}
		if got := eval[float64](b, `document.documentElement.scrollWidth`); got > 500 {
			t.Errorf("in 500 pixels the page is %v wide", got)
		}
		b.close()
	}
}
