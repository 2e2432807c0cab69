package trace

import (
	"bytes"
	"io"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// fuzzMemory keeps a fuzzer's inputs from costing more than they are worth.
const fuzzMemory = 32 << 20

// walk uses all of a trace that was decoded from arbitrary input.
func walk(t *testing.T, tr *Trace) {
	t.Helper()
	Validate(tr)
	CheckPoints(tr.Header, 1)
	cost := CostOf(tr.Events)
	if cost.Compare(cost) != 0 {
		t.Errorf("cost %+v differs from itself", cost)
	}
	n := 0
	for _, tei := range TEIs(tr.Events) {
		n += tei.End - tei.Start
	}
	if n != len(tr.Events) {
		t.Errorf("intervals have %d events of %d", n, len(tr.Events))
	}
	for i := range tr.Events {
		e := &tr.Events[i]
		_ = e.Op.String()
		e.Op.Class()
		e.Op.IsAccess()
		walkNames(e.Site, e.Object)
		_ = e.Enabled.String()
		if e.Enabled.Len() > 0 && !e.Enabled.Has(e.Enabled.last()) {
			t.Errorf("the last of %v is not in it", e.Enabled)
		}
		e.Enabled.Has(e.Thread)
		Preemptive(tr.Events, i)
	}
	for _, a := range tr.Allocs {
		walkNames(a.Site, a.Object)
	}
	_ = tr.Ending.Kind.String()
	tr.Ending.Kind.Failed()
	for _, a := range tr.Ending.Accesses {
		_ = a.Op.String()
		walkNames(a.Site, a.Object)
	}
	for _, w := range tr.Ending.Waiters {
		_ = w.Op.String()
		walkNames(w.Site, w.Object)
	}
}

func walkNames(s Site, o Object) {
	s.Module()
	s.Offset()
	o.Region()
	o.Index()
	o.Offset()
}

// throughBoth sends a decoded trace through both forms again.
func throughBoth(t *testing.T, tr *Trace) {
	t.Helper()
	text, err := MarshalText(tr)
	if err != nil {
		t.Fatalf("a decoded trace has no text form: %v", err)
	}
	again, err := ParseText(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	wantEqual(t, "through the text form", again, tr)
	var file bytes.Buffer
	if err := Encode(&file, tr); err != nil {
		// The text form can hold events of threads that a file cannot.
		for i := range tr.Events {
			if th := tr.Events[i].Thread; th < 0 || th >= MaxThreads {
				return
			}
		}
		t.Fatal(err)
	}
	if again, err = Decode(&file); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "through the file format", again, tr)
}

// seedTraces are small traces with something of everything.
func seedTraces(f *testing.F) []*Trace {
	ar, err := txtar.ParseFile("testdata/text.txtar")
	if err != nil {
		f.Fatal(err)
	}
	var out []*Trace
	for _, file := range ar.Files {
		tr, err := ParseText(bytes.NewReader(file.Data))
		if err != nil {
			f.Fatal(err)
		}
		out = append(out, tr)
	}
	return append(out, simulate(1, 3, 60), simulate(2, 70, 300))
}

// FuzzDecode gives the reader any bytes.
func FuzzDecode(f *testing.F) {
	for _, tr := range seedTraces(f) {
		file := mustEncode(f, tr)
		f.Add(file)
		f.Add(file[:len(file)*2/3])
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		tr, err := Decode(bytes.NewReader(file), MemoryLimit(fuzzMemory))
		if err != nil {
			return
		}
		walk(t, tr)
		throughBoth(t, tr)
	})
}

// FuzzRecords gives the reader any records, past the compression and the checksum that
// would hide them from the fuzzer, and uses as much as could be read.
func FuzzRecords(f *testing.F) {
	for _, tr := range seedTraces(f) {
		f.Add(unpack(f, mustEncode(f, tr)))
	}
	f.Fuzz(func(t *testing.T, plain []byte) {
		r, err := NewReader(bytes.NewReader(pack(t, plain)), MemoryLimit(fuzzMemory))
		if err != nil {
			return
		}
		defer r.Close()
		tr, err := r.all()
		walk(t, tr)
		throughBoth(t, tr)
		if err == nil {
			err = io.EOF
		}
		if _, again := r.Next(); again != err {
			t.Errorf("error %v became %v", err, again)
		}
	})
}

// FuzzParseText gives the parser of the text form any text.
func FuzzParseText(f *testing.F) {
	for _, tr := range seedTraces(f) {
		text, err := MarshalText(tr)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		tr, err := ParseText(bytes.NewReader([]byte(text)))
		if err != nil {
			return
		}
		walk(t, tr)
		throughBoth(t, tr)
	})
}
