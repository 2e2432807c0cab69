package trace

import (
	"bytes"
	"strings"
	"testing"
)

// An explanation is of the execution for which it was found, and of no other: neither a file nor a text has that of other events.
func TestExplanationOfOtherEvents(t *testing.T) {
	for name, change := range map[string]func(*Trace){
		"nothing":  func(*Trace) {},
		"header":   func(tr *Trace) { tr.Header.Original = "other.hdl" },
		"event":    func(tr *Trace) { tr.Events[1].Value++ },
		"length":   func(tr *Trace) { tr.Events = tr.Events[:len(tr.Events)-1] },
		"ending":   func(tr *Trace) { tr.Ending.Message = "another" },
		"too long": func(tr *Trace) { tr.Explanation.Data = bytes.Repeat([]byte{'x'}, maxExplanation+1) },
	} {
		tr := textGolden(t, "crash")
		tr.Events = append([]Event(nil), tr.Events...)
		tr.SetExplanation(Explanation{Version: 1, Heddle: "0.1.0", BuildID: "c0ffee", Data: []byte(`{"text":"why"}`)})
		change(tr)
		want := name == "nothing" || name == "header"
		if got := tr.Explained() != nil; got != want {
			t.Errorf("%s changed: explained %v", name, got)
		}
		var file bytes.Buffer
		if err := Encode(&file, tr); err != nil {
			t.Fatal(err)
		}
		again, err := Decode(&file)
		if err != nil || (again.Explained() != nil) != want {
			t.Errorf("%s changed: read back: %+v, %v", name, again.Explanation, err)
		}
		if text, err := MarshalText(tr); err != nil || strings.Contains(string(text), "explanation") != want {
			t.Errorf("%s changed: %v\n%s", name, err, text)
		}
	}
}

func TestExplanationText(t *testing.T) {
	for line, want := range map[string]string{
		`explanation-data "x"`:                            "without an explanation line",
		"explanation \"1\" \"\"\nexplanation \"1\" \"\"":  "a second explanation line",
		`explanation "1" "c0ffee" version=-1`:             "version",
		`explanation "1" "c0ffee" version=1 execution=x1`: "execution",
	} {
		_, err := ParseText(strings.NewReader("heddle trace text 1\nending clean\n" + line + "\nend 0\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", line, err)
		}
	}
}
