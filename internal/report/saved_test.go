package report

import (
	"reflect"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// An explanation is saved in the numbers of the trace, and comes back as it was.
func TestSavedExplanation(t *testing.T) {
	three, four := 3, 4
	e := &Explanation{
		Orders: []Order{{First: 13, Second: 24, Executions: 1}, {First: 24, Second: -1, InPassing: 7}},
		Short:  "order violation: this comes before that", Text: "Because. So.", Told: []int{13, 24},
		Steps: []Step{{Event: 13, InTrace: &three}, {Event: 24, InTrace: &four}, {Event: 20}, {Event: 7, Passing: true}, {Event: -1}},
		Events: []ExplainedEvent{
			{Event: 13, InTrace: &three}, {Event: 24, InTrace: &four}, {Event: 24, InTrace: &four}, {Event: 7, Passing: true},
		},
	}
	in := e.InTrace()
	if o := in.Orders; o[0].First != 3 || o[0].Second != 4 || o[1].First != 4 || o[1].Second != -1 || o[1].InPassing != 7 {
		t.Errorf("orders: %+v", o)
	}
	if s := in.Steps; s[0].Event != 3 || s[2].Event != -1 || s[3].Event != 7 || s[4].Event != -1 {
		t.Errorf("steps: %+v", s)
	}
	if want := "order violation: this comes before that [events 3 and 4]"; in.Line != want || !in.Numbered() {
		t.Errorf("%q, want %q", in.Line, want)
	}
	if e.Orders[0].First != 13 || e.Steps[0].Event != 13 {
		t.Error("the explanation itself has changed")
	}

	tr := &trace.Trace{Header: trace.Header{BuildID: "c0ffee"}, Events: make([]trace.Event, 5)}
	if in.Save(tr, "1"); !reflect.DeepEqual(SavedBy(tr, "1"), in) {
		t.Errorf("saved %+v, read %+v", in, SavedBy(tr, "1"))
	}
	if SavedBy(tr, "2") != nil {
		t.Error("the explanation of another heddle counts")
	}
	tr.Header.BuildID = "decaf"
	if SavedBy(tr, "1") != nil || Saved(tr) == nil {
		t.Error("the explanation of another build counts, or does not show")
	}
	in.Cut = true
	if in.Save(tr, "1"); tr.Explanation != nil {
		t.Error("an explanation that the time cut is saved")
	}

	// A sentence that speaks of an event without a number has no numbers.
	e.Told = []int{13, 20}
	if in := e.InTrace(); in.Line != e.Short || len(in.Told) != 0 {
		t.Errorf("%q %v", in.Line, in.Told)
	}
	e.Short = ""
	if in := e.InTrace(); in.Line != "Because" {
		t.Errorf("without a short sentence: %q", in.Line)
	}
}

// What a file from elsewhere has as explanation does not count if it is not one of its events.
func TestForeignExplanation(t *testing.T) {
	for _, data := range []string{
		"", "null]", `{"orders":[{"first":5,"second":1}],"events":[{"event":1},{"event":1}]}`,
		`{"orders":[{"first":1,"second":1}]}`, `{"steps":[{"event":-2}]}`, `{"told":[5]}`, `{"told":[-1]}`, `{"events":[{"event":9}]}`,
		`{"orders":[{"first":1,"second":-1,"inPassing":-3}],"events":[{"event":1},{"event":1,"passing":true}]}`, `{"cut":true}`,
	} {
		tr := &trace.Trace{Events: make([]trace.Event, 5)}
		tr.SetExplanation(trace.Explanation{Version: explanationVersion, Data: []byte(data)})
		if e := Saved(tr); e != nil {
			t.Errorf("%s: %+v", data, e)
		}
	}
}
