package sarif

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// published is the schema of SARIF 2.1.0 with errata 01, as OASIS published it at
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json.
const published = "testdata/sarif-schema-2.1.0.json"

var schema = sync.OnceValues(func() (*jsonschema.Schema, error) { return jsonschema.NewCompiler().Compile(published) })

// valid checks a log against the schema, and that no message is empty.
func valid(v any) error {
	s, err := schema()
	if err != nil {
		return err
	}
	if err := s.Validate(v); err != nil {
		return err
	}
	return texts(v, "")
}

func texts(v any, name string) error {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if err := texts(x, name); err != nil {
				return err
			}
		}
	case map[string]any:
		if (name == "message" || name == "shortDescription") && v["text"] == "" {
			return fmt.Errorf("%s has no text", name)
		}
		for p, x := range v {
			if err := texts(x, p); err != nil {
				return err
			}
		}
	}
	return nil
}

func written(t *testing.T, root string, results []Result) map[string]any {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, Tool{Name: "heddle", Version: "1", URL: "https://example.org", Rules: map[string]string{"data-race": "a race", "deadlock": "a deadlock"}}, root, results); err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(b.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	if err := valid(out); err != nil {
		t.Errorf("%v in\n%s", err, b.String())
	}
	return out
}

// A run that did not come to its end says so; one without problems was successful.
func TestProblems(t *testing.T) {
	for _, problems := range [][]string{nil, {"prog: no memory", "more"}} {
		var b bytes.Buffer
		if err := Write(&b, Tool{Name: "heddle", Problems: problems}, "", []Result{{Rule: "hang", Level: Error, Message: "m", Properties: map[string]string{"trace": "p.hdl"}}}); err != nil {
			t.Fatal(err)
		}
		var out map[string]any
		if err := json.Unmarshal(b.Bytes(), &out); err != nil {
			t.Fatal(err)
		}
		if err := valid(out); err != nil {
			t.Error(err)
		}
		run := out["runs"].([]any)[0].(map[string]any)["invocations"].([]any)[0].(map[string]any)
		said, _ := run["toolExecutionNotifications"].([]any)
		if run["executionSuccessful"] != (problems == nil) || len(said) != len(problems) {
			t.Errorf("%q: %v", problems, run)
		}
	}
}

func TestWrite(t *testing.T) {
	out := written(t, "/src", []Result{
		{
			Rule: "data-race", Level: Error, Message: "race", Notes: []string{"more"}, Key: "k", Where: Place{Func: "f", File: "/src/a b.c", Line: 3},
			Related: []Place{{File: "/usr/x.c", Line: 4, Message: "read"}}, Stacks: []Stack{{"write", []Place{{Func: "f", File: "/src/a b.c", Line: 3}, {Func: "main"}}}},
			Flows: []Flow{
				{"T0", "T0 main", []Step{{Place{File: "/src/a b.c", Line: 1, Message: "create T1"}, 0, Important}, {Place{File: "/src/a b.c", Line: 9, Message: "read x"}, 7, Essential}}},
				{"T1", "T1 f", []Step{{Place{File: "/src/a b.c", Line: 3, Message: "write x"}, 5, Unimportant}}},
			},
		},
		{Rule: "other", Level: Note, Message: "n", Suppressed: "known"},
	})
	text, _ := json.Marshal(out)
	for _, want := range []string{
		`"uri":"a%20b.c","uriBaseId":"SRCROOT"`, `"uri":"file:///usr/x.c"`, `"startLine":3`, `"text":"race\nmore"`, `"ruleIndex":0`,
		`"suppressions":[{"justification":"known","kind":"external"}]`, `"SRCROOT":{"uri":"file:///src/"}`, `"version":"2.1.0"`,
		`"executionOrder":7,"importance":"essential","location":{"message":{"text":"read x"}`, `"id":"T1"`,
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
	results := out["runs"].([]any)[0].(map[string]any)["results"].([]any)
	if _, ok := results[1].(map[string]any)["ruleIndex"]; ok || len(results) != 2 {
		t.Errorf("results %v", results)
	}
	// No results is an empty list, which says that the tool ran.
	if empty, _ := json.Marshal(written(t, "", nil)); !strings.Contains(string(empty), `"results":[]`) {
		t.Errorf("%s", empty)
	}
}

// The check rejects what the schema does.
func TestValid(t *testing.T) {
	for _, text := range []string{`{"runs": []}`, `{"version": "2.1.0", "runs": [{"results": []}]}`, `{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "more": 1}]}`,
		`{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": [{"message": {"text": "m"}, "codeFlows": [{"threadFlows": [{"id": "T1"}]}]}]}]}`,
		`{"version": "2.1.0", "runs": [{"tool": {"driver": {"name": "x"}}, "results": [{"message": {"text": ""}}]}]}`} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil || valid(v) == nil {
			t.Errorf("%s is valid (%v)", text, err)
		}
	}
}
