package trace

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// drawTrace makes up a trace with anything in it that the forms can hold, sense or not.
func drawTrace(t *rapid.T) *Trace {
	str := rapid.OneOf(rapid.String(), rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 8), func(b []byte) string { return string(b) }))
	maybeBytes := rapid.Custom(func(t *rapid.T) []byte {
		if rapid.Bool().Draw(t, "nil") {
			return nil
		}
		return append([]byte{}, rapid.SliceOfN(rapid.Byte(), 0, 3000).Draw(t, "bytes")...)
	})
	site := rapid.Map(rapid.Uint64(), func(v uint64) Site { return Site(v) })
	sites := rapid.SliceOfN(site, 0, 20)
	object := rapid.Map(rapid.Uint64(), func(v uint64) Object { return Object(v) })
	anyThread := rapid.Map(rapid.Int32(), func(v int32) ThreadID { return ThreadID(v) })
	op := rapid.Map(rapid.OneOf(rapid.Uint16Range(0, 320), rapid.Uint16()), func(v uint16) Op { return Op(v) })
	set := rapid.Custom(func(t *rapid.T) ThreadSet {
		s := ThreadSet{Low: rapid.Uint64().Draw(t, "low")}
		if rapid.IntRange(0, 4).Draw(t, "wide") == 0 {
			for _, t := range rapid.SliceOfN(rapid.Int32Range(0, MaxThreads-1), 0, 70).Draw(t, "high") {
				s.Add(ThreadID(t))
			}
		}
		return s
	})
	sets := rapid.SliceOfN(set, 1, 3).Draw(t, "sets")

	tr := &Trace{
		Header: Header{
			Heddle: str.Draw(t, "heddle"), Target: str.Draw(t, "target"), PointsVersion: rapid.Int().Draw(t, "points version"),
			Command: rapid.SliceOfN(str, 0, 3).Draw(t, "command"), Dir: str.Draw(t, "dir"), Stdin: maybeBytes.Draw(t, "stdin"),
			Env: rapid.SliceOfN(str, 0, 3).Draw(t, "env"), EnvDigest: str.Draw(t, "digest"), BuildID: str.Draw(t, "build id"),
			Strategy: str.Draw(t, "strategy"), Points: sites.Draw(t, "points"), ExpectStatus: rapid.Int32().Draw(t, "status"),
			ExpectOutput: maybeBytes.Draw(t, "expected output"), Oracle: str.Draw(t, "oracle"),
			Instrumented: rapid.Bool().Draw(t, "instrumented"), Original: str.Draw(t, "original"),
			Isolation: str.Draw(t, "isolation"),
			Signature: str.Draw(t, "signature"),
			FairAfter: rapid.IntRange(0, 1<<31-1).Draw(t, "fair after"), Cut: rapid.IntRange(0, 1<<31-1).Draw(t, "cut"), MaxAccesses: rapid.IntRange(0, 1<<40).Draw(t, "max accesses"), Unrecorded: sites.Draw(t, "unrecorded"),
			Omit:    rapid.SliceOfN(str, 0, 2).Draw(t, "without"),
			TryLock: rapid.SliceOfN(str, 0, 2).Draw(t, "tried locks"),
			Argv0:   str.Draw(t, "argv0"), Surroundings: rapid.SliceOfN(str, 0, 3).Draw(t, "surroundings"),
		},
	}
	tr.Header.Values = rapid.Bool().Draw(t, "values")
	if rapid.Bool().Draw(t, "fault") {
		tr.Header.Fault = &Fault{
			Model: rapid.SampledFrom(FaultModels()).Draw(t, "model"), Thread: rapid.Uint64().Draw(t, "fault's thread"),
			Site: site.Draw(t, "fault's site"), Index: rapid.Uint64().Draw(t, "index"), Amount: rapid.Uint64().Draw(t, "amount"),
		}
	}
	if rapid.Bool().Draw(t, "recipe") {
		words := rapid.SliceOfN(str, 0, 3)
		tr.Header.Recipe = &Recipe{
			Kind: str.Draw(t, "kind"), Tool: str.Draw(t, "tool"), Flags: words.Draw(t, "flags"), Env: words.Draw(t, "variables"),
			Packages: words.Draw(t, "packages"), Args: words.Draw(t, "args"), Vet: str.Draw(t, "vet"), Run: str.Draw(t, "run"), Skip: str.Draw(t, "skip"),
			Short: rapid.Bool().Draw(t, "short"), Parallel: int(rapid.Uint32().Draw(t, "parallel")), RacesAllowed: rapid.Bool().Draw(t, "races"),
			Leaks: str.Draw(t, "leaks"), LeakIgnore: words.Draw(t, "leak ignore"), Exec: words.Draw(t, "exec"),
		}
	}
	for range rapid.IntRange(0, 3).Draw(t, "modules") {
		tr.Modules = append(tr.Modules, Module{str.Draw(t, "path"), str.Draw(t, "build id"), rapid.Bool().Draw(t, "program")})
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "threads") {
		tr.Threads = append(tr.Threads, Thread{ThreadID(i), anyThread.Draw(t, "parent"), rapid.Int().Draw(t, "nth"),
			rapid.Uint64().Draw(t, "name"), site.Draw(t, "entry"), str.Draw(t, "label"), rapid.Bool().Draw(t, "ended")})
	}
	if stacks := rapid.SliceOfN(sites, 0, 3).Draw(t, "stacks"); len(stacks) > 0 {
		tr.Stacks = append([][]Site{nil}, stacks...)
	}
	for range rapid.IntRange(0, 4).Draw(t, "allocs") {
		tr.Allocs = append(tr.Allocs, Alloc{object.Draw(t, "object"), rapid.Uint64().Draw(t, "size"), anyThread.Draw(t, "thread"),
			site.Draw(t, "site"), rapid.Uint32().Draw(t, "stack"), rapid.Int().Draw(t, "event"), rapid.Int().Draw(t, "freed")})
	}
	for range rapid.IntRange(0, 3).Draw(t, "locals") {
		tr.Types = append(tr.Types, Type{object.Draw(t, "object"), rapid.Uint64().Draw(t, "size"), rapid.Uint64().Draw(t, "unit"), rapid.String().Draw(t, "type"), site.Draw(t, "descriptor"), site.Draw(t, "site"), rapid.Bool().Draw(t, "channel")})
		tr.Mappings = append(tr.Mappings, Mapping{object.Draw(t, "object"), rapid.Uint64().Draw(t, "size"), rapid.Uint64().Draw(t, "offset"), rapid.String().Draw(t, "file"), rapid.Int().Draw(t, "event")})
		tr.Locals = append(tr.Locals, Local{object.Draw(t, "object"), site.Draw(t, "site"), site.Draw(t, "below"), site.Draw(t, "function"), rapid.Int64().Draw(t, "cfa"), rapid.Int64().Draw(t, "sp"), rapid.Int64().Draw(t, "fp"), rapid.Int().Draw(t, "event")})
	}
	for range rapid.IntRange(0, 40).Draw(t, "events") {
		tr.Events = append(tr.Events, Event{
			Thread: ThreadID(rapid.OneOf(rapid.Int32Range(0, 3), rapid.Int32Range(0, MaxThreads-1)).Draw(t, "thread")), Op: op.Draw(t, "op"),
			Site: site.Draw(t, "site"), Object: object.Draw(t, "object"), Aux: rapid.Uint64().Draw(t, "aux"),
			Size: rapid.Uint32().Draw(t, "size"), Flags: Flags(rapid.Uint32().Draw(t, "flags")), Result: rapid.Int32().Draw(t, "result"),
			Value: rapid.Uint64().Draw(t, "value"), Stack: rapid.Uint32().Draw(t, "stack"),
			Enabled: rapid.SampledFrom(sets).Draw(t, "enabled"),
		})
	}
	e := &tr.Ending
	*e = Ending{
		Kind: Kind(rapid.Byte().Draw(t, "kind")), Status: rapid.Int32().Draw(t, "status"), Thread: anyThread.Draw(t, "thread"),
		Message: str.Draw(t, "message"), Site: site.Draw(t, "site"), Object: object.Draw(t, "object"), Stack: sites.Draw(t, "stack"),
		Cycle: rapid.SliceOfN(anyThread, 0, 3).Draw(t, "cycle"), Output: maybeBytes.Draw(t, "output"),
	}
	if rapid.Bool().Draw(t, "in a child") {
		e.Child = &Child{rapid.IntRange(0, 2000).Draw(t, "process"), op.Draw(t, "op"), anyThread.Draw(t, "holder")}
	}
	for range rapid.IntRange(0, 3).Draw(t, "accesses") {
		e.Accesses = append(e.Accesses, Access{anyThread.Draw(t, "thread"), op.Draw(t, "op"), site.Draw(t, "site"), object.Draw(t, "object"),
			rapid.Uint32().Draw(t, "size"), rapid.Uint32().Draw(t, "stack")})
	}
	for range rapid.IntRange(0, 3).Draw(t, "waiters") {
		e.Waiters = append(e.Waiters, Waiter{anyThread.Draw(t, "thread"), op.Draw(t, "op"), site.Draw(t, "site"), object.Draw(t, "object"),
			anyThread.Draw(t, "holder"), rapid.Bool().Draw(t, "ready"), rapid.Uint32().Draw(t, "stack"), Reach(rapid.IntRange(0, 3).Draw(t, "reach"))})
	}
	for range rapid.IntRange(0, 3).Draw(t, "cases") {
		e.Cases = append(e.Cases, Case{anyThread.Draw(t, "thread"), op.Draw(t, "op"), object.Draw(t, "object"), rapid.Uint64().Draw(t, "taken")})
	}
	if rapid.Bool().Draw(t, "explained") {
		tr.SetExplanation(Explanation{int(rapid.Uint32().Draw(t, "version")), str.Draw(t, "heddle"), str.Draw(t, "build id"), 0, []byte(rapid.StringN(1, -1, -1).Draw(t, "explanation"))})
	}
	return tr
}

func TestBinaryRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawTrace(t)
		var b bytes.Buffer
		if err := Encode(&b, want); err != nil {
			t.Fatal(err)
		}
		got, err := Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "trace→file→trace", got, want)
	})
}

func TestTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawTrace(t)
		text, err := MarshalText(want)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ParseText(bytes.NewReader(text))
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		wantEqual(t, "trace→text→trace", got, want)
		again, err := MarshalText(got)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again, text) {
			t.Fatalf("text→trace→text:\n%s\nbecame\n%s", text, again)
		}
	})
}

// A simulated execution has what drawn traces lack: many blocks, and sense.
func TestSimulatedRoundTrip(t *testing.T) {
	for workers, size := range map[int]int{0: 0, 1: 40_000, 4: 40_000, 70: 17_000, 300: 4_000} {
		want := simulate(uint64(workers), workers, size)
		if err := Validate(want); err != nil {
			t.Fatalf("%d workers: %v", workers, err)
		}
		var b bytes.Buffer
		if err := Encode(&b, want); err != nil {
			t.Fatal(err)
		}
		size := b.Len()
		got, err := Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "trace→file→trace", got, want)
		text, err := MarshalText(want)
		if err != nil {
			t.Fatal(err)
		}
		if got, err = ParseText(bytes.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "trace→text→trace", got, want)
		t.Logf("%d workers: %d events, %.2f bytes/event in the file, %.1f as text", workers, len(want.Events),
			float64(size)/float64(len(want.Events)), float64(len(text))/float64(len(want.Events)))
	}
}
