package page

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// comparison is a comparison as heddle compare prints it: T0 deviates in data in its third of four quarters, T0.1 in control.
func comparison(name string) Comparison {
	event := func(value string) map[string]any {
		return map[string]any{"op": "write", "where": "sum.c:12 (add)", "site": "sum+0x10", "place": name, "size": "8", "value": value}
	}
	first := map[string]any{"kind": "data", "thread": "T0", "event": 20, "trace": 31, "golden": event("7"), "other": event("15")}
	control := map[string]any{"kind": "control", "thread": "T0.1", "event": 6, "golden": event("1")}
	return Comparison{Golden: name, Other: "bad.hdl", Comparison: map[string]any{
		"deviation": "control", "outcome": "silent data corruption", "ordered": true, "first": first,
		"threads": []any{
			map[string]any{"thread": "T0", "golden": 40, "other": 40, "compared": 40, "data": 5, "address": 0, "contents": 0, "first": first, "spread": []int{0, 0, 5, 0}},
			map[string]any{"thread": "T0.1", "golden": 20, "other": 6, "compared": 7, "data": 0, "address": 0, "contents": 0, "first": control, "control": control, "controls": 2, "rejoined": 1, "skipped": 3, "extra": 1200, "spread": []int{0, 1, 0, 0}},
			map[string]any{"thread": "T0.2", "golden": 20, "other": 20, "compared": 20, "data": 0, "address": 0, "contents": 0},
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
	if got := text(".lead"); !strings.HasSuffix(got, "It begins in T0, at sum.c:12 (add).") {
		t.Errorf("the page begins with %q", got)
	}
	if got := text(".detail"); !strings.Contains(got, "Where it began") || !strings.Contains(got, "event 31 of the compared trace") {
		t.Errorf("the first deviation is %q", got)
	}
	if got := text(".differs"); got != "value715" {
		t.Errorf("the line that differs is %q", got)
	}
	// In T0, the third quarter deviates, and the mark is in the middle; of T0.1, the rest is not compared.
	if got := eval[[]float64](b, `[...document.querySelectorAll('tbody tr:nth-child(1) .part.data')].map(r => r.height.baseVal.value)`); len(got) != 4 || got[2] != 10 || got[0]+got[1]+got[3] != 0 {
		t.Errorf("heights of the parts are %v", got)
	}
	if got := eval[string](b, `document.querySelector('tbody tr:nth-child(1) path.first').getAttribute('d')`); got != "M500 0 V26" {
		t.Errorf("the mark is at %q", got)
	}
	if got := eval[float64](b, `document.querySelector('tbody tr:nth-child(2) .rest').x.baseVal.value`); got != 175 {
		t.Errorf("what is not compared begins at %v, want 7/20 of 500", got)
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
