package sarif

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/trace"
)

// required are the properties that the schema of SARIF 2.1.0 requires of its objects, by the property
// in which they are; in stacks, of the objects within.
var required = map[string][]string{
	"": {"version", "runs"}, "runs": {"tool"}, "tool": {"driver"}, "driver": {"name"}, "rules": {"id"},
	"invocations": {"executionSuccessful"}, "toolExecutionNotifications": {"message"},
	"results": {"message"}, "stacks": {"frames"},
	// One of two is required: text or id; uri or index. heddle writes the former.
	"message": {"text"}, "shortDescription": {"text"}, "artifactLocation": {"uri"}, "physicalLocation": {"artifactLocation"},
}

// check reports the properties that an object in the property called name lacks.
func check(name string, v any) (missing []string) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			missing = append(missing, check(name, x)...)
		}
	case map[string]any:
		for _, r := range required[name] {
			if _, ok := v[r]; !ok {
				missing = append(missing, name+"."+r)
			}
		}
		for k, x := range v {
			missing = append(missing, check(k, x)...)
		}
	}
	return missing
}

func written(t *testing.T, l *Log) (text string, parsed map[string]any) {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, l); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b.Bytes(), &parsed); err != nil {
		t.Fatal(err)
	}
	return b.String(), parsed
}

func view() *report.View {
	return &report.View{
		Places: []report.Place{{Label: "?"}, {Label: "a b.c:12", Func: "work", File: "/src/x/a b.c", Line: 12}, {Label: "libc+0x12"}, {Label: "h.h:3", File: "/usr/include/h.h", Line: 3}},
		Failure: &report.Failure{
			Place: 2, Stack: []int{2, 3, 1},
			Sides: []report.Side{{Text: "T1: write x", Place: 1}, {Text: "T2: read x", Place: 3}},
			Waits: []report.Wait{{Text: "T1 waits for A", Place: 1}},
		},
	}
}

func TestRequiredProperties(t *testing.T) {
	for _, l := range []*Log{
		{Root: "/src"},
		{Root: "/src", Problems: []string{"prog: no memory"}},
		{Version: "1.2", Root: "/src", Findings: []Finding{
			{Kind: "data race", Message: "data race: …", Key: "data-race@a.c:12#12345678", Program: "p", Trace: "p.hdl", View: view()},
			{Kind: "hang", Message: "hang", Program: "p"},
			{Kind: "data race", Message: "another", Program: "p", View: &report.View{Places: []report.Place{{Label: "?"}}, Failure: &report.Failure{}}},
		}},
	} {
		text, parsed := written(t, l)
		if missing := check("", parsed); len(missing) > 0 {
			t.Errorf("%v are missing in\n%s", missing, text)
		}
		run := parsed["runs"].([]any)[0].(map[string]any)
		// Absent results would mean that they were not computed.
		results, ok := run["results"].([]any)
		if !ok || len(results) != len(l.Findings) {
			t.Errorf("%d results, want %d", len(results), len(l.Findings))
		}
		rules := run["tool"].(map[string]any)["driver"].(map[string]any)["rules"].([]any)
		for i, r := range results {
			r := r.(map[string]any)
			rule := rules[int(r["ruleIndex"].(float64))].(map[string]any)
			if rule["id"] != r["ruleId"] || r["ruleId"] != "heddle/"+strings.ReplaceAll(l.Findings[i].Kind, " ", "-") {
				t.Errorf("result %d is of rule %v, which is %v", i, r["ruleId"], rule["id"])
			}
		}
		success := run["invocations"].([]any)[0].(map[string]any)["executionSuccessful"]
		if success != (len(l.Problems) == 0) {
			t.Errorf("successful: %v, with the problems %q", success, l.Problems)
		}
	}
	// The check itself notices what is missing.
	if missing := check("", map[string]any{"version": "2.1.0", "runs": []any{map[string]any{"results": []any{map[string]any{}}}}}); len(missing) != 2 {
		t.Errorf("missing %v, want runs.tool and results.message", missing)
	}
}

// Names of files are URIs, relative to the root if they are there. A failure in a library is shown at
// the innermost place with a source.
func TestPlaces(t *testing.T) {
	text, _ := written(t, &Log{Root: "/src/x", Findings: []Finding{{Kind: "signal", Message: "m", View: view()}}})
	for _, want := range []string{`"uri": "a%20b.c"`, `"uriBaseId": "SRCROOT"`, `"uri": "file:///usr/include/h.h"`, `"uri": "file:///src/x/"`, `"fullyQualifiedName": "libc+0x12"`, `"text": "T1: write x"`, `"text": "T1 waits for A"`} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	l := &Log{Root: "/src/x"}
	v := view()
	if at := l.best(v); at != 3 {
		t.Errorf("place %d, want that of the header", at)
	}
	if got := fmt.Sprint(l.artifact("/src/y/z.c"), l.artifact("rel/z.c")); got != "{file:///src/y/z.c } {rel/z.c SRCROOT}" {
		t.Error(got)
	}
}

// Every kind of failure has a description.
func TestDescriptions(t *testing.T) {
	for k := trace.Kind(0); k.String() != "unknown"; k++ {
		if _, ok := descriptions[k.String()]; ok != k.Failed() {
			t.Errorf("%v: described: %v", k, ok)
		}
	}
}
