package result

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/report/sarif"
	"github.com/heddle-dev/heddle/internal/testing/reporttest"
)

// Each failure has the stacks of its threads and the steps of its execution, in a log that the published
// schema accepts.
func TestLocate(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../report/sarif/testdata/sarif-schema-2.1.0.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range reporttest.Fixtures() {
		tr, names := reporttest.Load(t, name)
		v := report.Build(tr, names, report.Options{})
		r := sarif.Result{Rule: "x", Level: sarif.Error, Message: name}
		locate(&r, v)
		var b bytes.Buffer
		if err := sarif.Write(&b, sarif.Tool{Name: "heddle"}, tr.Header.Dir, []sarif.Result{r}); err != nil {
			t.Fatal(err)
		}
		log, err := jsonschema.UnmarshalJSON(strings.NewReader(b.String()))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(log); err != nil {
			t.Errorf("%s: %v\n%s", name, err, b.String())
		}
		f := v.Failure
		if f == nil {
			if len(r.Flows)+len(r.Stacks) > 0 {
				t.Errorf("%s did not fail and has %d flows, %d stacks", name, len(r.Flows), len(r.Stacks))
			}
			continue
		}
		stacks := len(f.Waits) + len(f.Sides)
		if stacks == 0 && len(f.Stack) > 0 {
			stacks = 1
		}
		if len(r.Stacks) != stacks {
			t.Errorf("%s has %d stacks, want %d", name, len(r.Stacks), stacks)
		}
		orders := map[int]bool{}
		essential := 0
		for _, flow := range r.Flows {
			last := -1
			for _, s := range flow.Steps {
				if s.Order <= last || orders[s.Order] {
					t.Errorf("%s: step %d of %s comes after %d", name, s.Order, flow.Thread, last)
				}
				if flow.Thread != report.ThreadText(tr.Events[s.Order].Thread) {
					t.Errorf("%s: step %d is not of %s", name, s.Order, flow.Thread)
				}
				last = s.Order
				orders[last] = true
				if s.Importance == sarif.Essential {
					essential++
				}
			}
		}
		if len(orders) == 0 || len(orders) > flowSteps {
			t.Errorf("%s has %d steps", name, len(orders))
		}
		if want := len(f.Sides); want > 0 && essential != want {
			t.Errorf("%s: %d steps are essential, want the %d accesses that race", name, essential, want)
		}
	}
}
