package page

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// comparison is a comparison as heddle compare prints it: T0 deviates in data in its third of four quarters, T0.1 in control.
func comparison(name string) Comparison {
	event := func(value string) map[string]any {
		return map[string]any{"op": "write", "where": "sum.c:12 (add)", "site": "sum+0x10", "place": name, "size": "8", "value": value}
	}
	first := map[string]any{"kind": "data", "thread": "T0", "event": 20, "trace": 31, "golden": event("7"), "other": event("15")}
	control := map[string]any{"kind": "control", "thread": "T0.1", "event": 6, "golden": event("1")}
	return Comparison{Golden: name, Other: "bad.hdl", Comparison: map[string]any{
		"deviation": "control", "outcome": "silent data corruption", "ordered": true, "first": first, "control": control, "fault": "bit-flip-read, amount 3",
		"endings": map[string]any{
			"golden": map[string]any{"kind": "clean", "status": 0, "text": "exit status 0"},
			"other":  map[string]any{"kind": "signal", "status": 11, "thread": "T0", "where": name, "text": "signal: segmentation fault"},
			"output": map[string]any{"line": 1200, "golden": name, "other": nil},
		},
		"threads": []any{
			map[string]any{"thread": "T0", "golden": 40, "other": 40, "compared": 40, "data": 5, "address": 0, "contents": 0, "controls": 0, "first": first, "order": 1, "spread": []int{0, 0, 5, 0}},
			map[string]any{"thread": "T0.1", "golden": 20, "other": 6, "compared": 7, "data": 0, "address": 0, "contents": 0, "first": control, "control": control, "controls": 2, "rejoined": 1, "skipped": 3, "extra": 1200, "spread": []int{0, 1, 0, 0}},
			map[string]any{"thread": "T0.2", "golden": 20, "other": 20, "compared": 20, "data": 0, "address": 0, "contents": 0, "controls": 0},
		},
	}}
}

// The page says where the deviation began, draws how it spread, and shows each thread's.
func TestComparison(t *testing.T) {
	var out bytes.Buffer
	if err := RenderComparison(&out, comparison("T0:h1+0")); err != nil {
		t.Fatal(err)
	}
	b := open(t, out.Bytes(), "", 1300, 800)
	defer b.close()
	text := func(query string) string {
		return eval[string](b, fmt.Sprintf(`document.querySelector(%q).textContent`, query))
	}
	if got := text("h1"); got != "A deviation in data that reaches control" {
		t.Errorf("the headline is %q", got)
	}
	if got, want := text(".lead"), "It begins in T0, at sum.c:12 (add), in data: the same instruction accesses the same memory, with another value."+
		"Control deviates only where threads end sooner, such as T0.1, at sum.c:12 (add): the thread has ended, or was never created."+
		"1T0 sum.c:12 (add)–T0.1 the thread has ended, or was never created"; got != want {
		t.Errorf("the page begins with %q, want %q", got, want)
	}
	if got, want := text("main section"), "How they endedgoldencomparedendingexit status 0signal: segmentation fault, in T0, at T0:h1+0output, line 1,200T0:h1+0has ended"; got != want {
		t.Errorf("the endings are %q, want %q", got, want)
	}
	if got := text(".top .facts"); !strings.HasSuffix(got, "fault: bit-flip-read, amount 3") {
		t.Errorf("the facts are %q", got)
	}
	if got := text(".detail"); !strings.Contains(got, "Where it began") || !strings.Contains(got, "event 31 of the compared trace") {
		t.Errorf("the first deviation is %q", got)
	}
	if got := text(".detail .differs"); got != "value715" {
		t.Errorf("the line that differs is %q", got)
	}
	// In T0, the third quarter deviates, and the mark is in the middle; of T0.1, the rest is not compared.
	if got := eval[[]float64](b, `[...document.querySelectorAll('.threads tbody tr:nth-child(1) .part.data')].map(r => r.height.baseVal.value)`); len(got) != 4 || got[2] != 10 || got[0]+got[1]+got[3] != 0 {
		t.Errorf("heights of the parts are %v", got)
	}
	if got := eval[string](b, `document.querySelector('.threads tbody tr:nth-child(1) path.first').getAttribute('d')`); got != "M500 0 V26" {
		t.Errorf("the mark is at %q", got)
	}
	if got := eval[string](b, `document.querySelector('.threads tbody tr:nth-child(1) .track .mark').style.left + [...document.querySelectorAll('.track .mark')].map(m => ' ' + m.textContent).join('')`); got != "50% 1" {
		t.Errorf("the numbers are at %q", got)
	}
	// Each bar is its thread's time.
	if got := eval[[]float64](b, `[...document.querySelectorAll('.threads .ground')].map(r => r.width.baseVal.value)`); len(got) != 3 || got[0] != 1000 || got[1] != 1000 {
		t.Errorf("the bars are %v wide", got)
	}
	if got := eval[float64](b, `document.querySelector('.threads tbody tr:nth-child(2) .rest').x.baseVal.value`); got != 350 {
		t.Errorf("what is not compared begins at %v, want 7/20 of 1000", got)
	}
	b.keys("j")
	if got := text(".detail"); !strings.Contains(got, "The first deviation of T0.1") || !strings.Contains(got, "no event") || !strings.Contains(got, "control deviates 2 times3 events missing, 1,200 added") || !strings.Contains(got, "is not compared") {
		t.Errorf("the deviation of T0.1 is %q", got)
	}
	b.keys("j")
	if got := text(".detail"); got != "T0.2 does not deviate." {
		t.Errorf("T0.2: %q", got)
	}
	b.keys("k")
	for _, scheme := range []string{"light", "dark"} {
		b.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}))
		for _, problem := range eval[[]string](b, contrast) {
			t.Errorf("%s: %s", scheme, problem)
		}
		b.screenshot("comparison_" + scheme)
	}
	b.do(chromedp.EmulateViewport(500, 900))
	if got := eval[float64](b, `document.documentElement.scrollWidth`); got > 500 {
		t.Errorf("in 500 pixels the page is %v wide", got)
	}
	b.screenshot("comparison_narrow")
	b.do(chromedp.Click(".lead .follow li:nth-child(2) button", chromedp.ByQuery))
	if got := text(".detail"); !strings.Contains(got, "The first deviation of T0.1") {
		t.Errorf("the second thread in order shows %q", got)
	}
}

// Long names do not make the page wider than a narrow window.
func TestComparisonLongNames(t *testing.T) {
	var out bytes.Buffer
	if err := RenderComparison(&out, comparison(strings.Repeat("g:a_program_with_a_long_name", 8))); err != nil {
		t.Fatal(err)
	}
	b := open(t, out.Bytes(), "", 500, 900)
	defer b.close()
	if got := eval[float64](b, `document.documentElement.scrollWidth`); got > 500 {
		t.Errorf("in 500 pixels the page is %v wide", got)
	}
}

// The page of executions that do not deviate: in threads, or at all.
func TestComparisonEqual(t *testing.T) {
	for _, outcome := range []string{"benign", "silent data corruption"} {
		c := comparison("T0:h1+0")
		c.Comparison = map[string]any{
			"deviation": "none", "outcome": outcome, "ordered": true,
			"endings": map[string]any{"golden": map[string]any{"kind": "clean", "status": 0, "text": "exit status 0"}, "other": map[string]any{"kind": "clean", "status": 0, "text": "exit status 0"}},
			"threads": []any{map[string]any{"thread": "T0", "golden": 40, "other": 40, "compared": 40, "data": 0, "address": 0, "contents": 2, "controls": 0}},
		}
		var out bytes.Buffer
		if err := RenderComparison(&out, c); err != nil {
			t.Fatal(err)
		}
		b := open(t, out.Bytes(), "", 1300, 800)
		if got := eval[bool](b, `document.querySelector('.legend, .detail, .threads svg') !== null`); got {
			t.Error("the page explains deviations that do not exist")
		}
		want := map[string]string{"benign": "verdict passes No deviation", "silent data corruption": "verdict fails No deviation, but another outcome"}[outcome]
		if got := eval[string](b, `document.querySelector('.verdict').className + ' ' + document.querySelector('h1').textContent`); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		if got := eval[string](b, `document.querySelector('main').textContent`); !strings.Contains(got, "2 ranges of memory with other contents") || !strings.Contains(got, "Both ended the same, with the same output: exit status 0.") {
			t.Errorf("the page says %q", got)
		}
		b.screenshot("comparison_" + outcome[:6])
		b.close()
	}
	c := comparison("T0:h1+0")
	c.Comparison.(map[string]any)["outcome"] = "benign"
	var out bytes.Buffer
	if err := RenderComparison(&out, c); err != nil {
		t.Fatal(err)
	}
	b := open(t, out.Bytes(), "", 1300, 800)
	defer b.close()
	if got := eval[string](b, `document.querySelector('.verdict').className`); got != "verdict neutral" {
		t.Errorf("a benign deviation has the badge %q", got)
	}
}

// Names of the program are text.
func TestComparisonEscapes(t *testing.T) {
	var out bytes.Buffer
	if err := RenderComparison(&out, comparison("</script><img src=x onerror='window.hacked=1'>")); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(out.Bytes(), []byte("<img")) {
		t.Error("a name is markup")
	}
	b := open(t, out.Bytes(), "", 1300, 800)
	defer b.close()
	if eval[bool](b, `'hacked' in window || document.images.length > 0`) {
		t.Error("a name was executed")
	}
}
