package trace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/heddle-dev/heddle/trace/tracepb"
)

func mustEncode(t testing.TB, tr *Trace) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(&b, tr); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// pack makes a trace file of records in their plain form, valid or not.
func pack(t testing.TB, plain []byte) []byte {
	t.Helper()
	b := bytes.NewBuffer(preamble())
	z, err := zstd.NewWriter(b, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// unpack is the inverse of pack.
func unpack(t testing.TB, file []byte) []byte {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(file[preambleSize:]))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

func delimited(t testing.TB, records ...*tracepb.Record) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, r := range records {
		if _, err := protodelim.MarshalTo(&b, r); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// wantError checks the error's reason and that it is one sentence with the words.
func wantError(t *testing.T, err, reason error, words ...string) {
	t.Helper()
	if !errors.Is(err, reason) {
		t.Fatalf("error %v, want one that is %q", err, reason)
	}
	if strings.Contains(err.Error(), "\n") {
		t.Errorf("error has more than one line: %q", err)
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("error %q lacks %q", err, w)
		}
	}
}

func TestFileRoundTrip(t *testing.T) {
	name := filepath.Join(t.TempDir(), "bug.hdl")
	want := simulate(3, 3, 40_000)
	if err := WriteFile(name, want); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, filepath.Dir(name), "bug.hdl")
	got, err := ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "file", got, want)
	if got, err = ReadPrefix(name); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "prefix of a complete file", got, want)
}

// The same trace is the same bytes: files can be compared, and found again by digest.
func TestFileIsDeterministic(t *testing.T) {
	tr := simulate(5, 4, 40_000)
	if !bytes.Equal(mustEncode(t, tr), mustEncode(t, tr)) {
		t.Error("two files of one trace differ")
	}
}

func TestFileLargeHeaderAndOutput(t *testing.T) {
	want := &Trace{Header: Header{Stdin: bytes.Repeat([]byte("in"), 400_000), Command: []string{"\xff\xfe"}}}
	for i := range 150_000 {
		want.Header.Points = append(want.Header.Points, MakeSite(i%3, uint64(i)*0x9e3779b97f4a7c15))
	}
	want.Ending.Output = bytes.Repeat([]byte("out"), 3_000_000)
	for _, tr := range []*Trace{want, {Header: Header{Stdin: []byte{}}, Ending: Ending{Output: []byte{}}}} {
		got, err := Decode(bytes.NewReader(mustEncode(t, tr)))
		if err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "large header", got, tr)
	}
}

// Enabled sets that change much between events make blocks end early, not fail.
func TestFileManyThreads(t *testing.T) {
	want := &Trace{}
	var all ThreadSet
	for i := range ThreadID(1 << 16) {
		all.Add(MaxThreads - 1 - 15*i)
	}
	for i := range 300 {
		e := Event{Thread: ThreadID(i), Op: OpYield}
		if i%2 == 0 {
			e.Enabled = all
		}
		want.Events = append(want.Events, e)
	}
	got, err := Decode(bytes.NewReader(mustEncode(t, want)))
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "many threads", got, want)
}

func TestStreamingTables(t *testing.T) {
	var b bytes.Buffer
	e, err := NewEncoder(&b)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(e.WriteHeader(Header{Target: "c"}))
	must(e.WriteModule(Module{Path: "a"}))
	must(e.WriteThread(Thread{ID: 0, Parent: -1, Name: 1}))
	must(e.WriteEvent(&Event{Op: OpThreadStart, Enabled: ThreadSet{Low: 1}}))
	must(e.Flush())
	n, err := e.WriteStack([]Site{7, 8})
	must(err)
	if n != 1 {
		t.Errorf("the first stack has number %d", n)
	}
	k, err := e.WriteAlloc(Alloc{Object: 5, Event: 1, Freed: -1})
	must(err)
	must(e.WriteThread(Thread{ID: 1, Parent: 0, Nth: 1, Name: 2}))
	must(e.WriteEvents([]Event{{Thread: 1, Op: OpFree, Object: 5, Stack: n, Enabled: ThreadSet{Low: 3}}}))
	must(e.Flush())
	must(e.WriteFree(k, 1))
	must(e.WriteThread(Thread{ID: 0, Parent: -1, Name: 1, Ended: true}))
	must(e.WriteLocals([]Local{{Object: 9, Site: 7}}))
	must(e.WriteTypes([]Type{{Object: 5, Name: "pool.Pool"}}))
	must(e.WriteMappings([]Mapping{{Object: 6, Path: "/d/f"}}))
	must(e.Close(Ending{Kind: Deadlock}))

	r, err := NewReader(&b)
	must(err)
	defer r.Close()
	if r.Header().Target != "c" {
		t.Errorf("header %+v before the first event", r.Header())
	}
	var seen []Op
	for ev, err := range r.Events() {
		must(err)
		seen = append(seen, ev.Op)
		if _, ok := r.Ending(); ok {
			t.Error("there is an ending before the last event")
		}
		switch len(seen) {
		case 1:
			if len(r.Modules()) != 1 || len(r.Threads()) != 1 || len(r.Stacks()) != 1 || len(r.Allocs()) != 0 {
				t.Errorf("tables at the first event: %v %v %v %v", r.Modules(), r.Threads(), r.Stacks(), r.Allocs())
			}
		case 2:
			if len(r.Threads()) != 2 || len(r.Stacks()) != 2 || len(r.Allocs()) != 1 || r.Allocs()[0].Freed != -1 || r.Threads()[0].Ended {
				t.Errorf("tables at the second event: %v %v %v", r.Threads(), r.Stacks(), r.Allocs())
			}
		}
	}
	if len(seen) != 2 || seen[0] != OpThreadStart || seen[1] != OpFree {
		t.Errorf("events %v", seen)
	}
	if end, ok := r.Ending(); !ok || end.Kind != Deadlock {
		t.Errorf("ending %+v, %t", end, ok)
	}
	if len(r.Locals()) != 1 || r.Locals()[0].Site != 7 || len(r.Types()) != 1 || r.Types()[0].Name != "pool.Pool" || len(r.Mappings()) != 1 || r.Mappings()[0].Path != "/d/f" {
		t.Errorf("tables after the ending: %v %v %v", r.Locals(), r.Types(), r.Mappings())
	}
	if r.Allocs()[0].Freed != 1 || !r.Threads()[0].Ended {
		t.Errorf("what became known later: %+v %+v", r.Allocs()[0], r.Threads()[0])
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("after the end: %v", err)
	}
}

// A reader that is left early, closed, and asked again must say so, not go wrong.
func TestReaderAfterClose(t *testing.T) {
	r, err := NewReader(bytes.NewReader(mustEncode(t, simulate(1, 2, 40_000))))
	if err != nil {
		t.Fatal(err)
	}
	for range r.Events() {
		break
	}
	r.Close()
	r.Close()
	if _, err := r.Next(); err == nil || err == io.EOF {
		t.Errorf("Next after Close: %v", err)
	}
}

func TestEncoderRefuses(t *testing.T) {
	begun := func() *Encoder {
		e, err := NewEncoder(io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	headed := func() *Encoder {
		e := begun()
		if err := e.WriteHeader(Header{}); err != nil {
			t.Fatal(err)
		}
		return e
	}
	closed := headed()
	if err := closed.Close(Ending{}); err != nil {
		t.Fatal(err)
	}
	var high ThreadSet
	high.Add(MaxThreads)
	for name, c := range map[string]struct {
		err   error
		words string
	}{
		"no header":        {begun().WriteEvent(&Event{}), "header must be written first"},
		"close, no header": {begun().Close(Ending{}), "header must be written first"},
		"two headers":      {headed().WriteHeader(Header{}), "header was written already"},
		"after close":      {closed.WriteEvent(&Event{}), "after Close"},
		"closed twice":     {closed.Close(Ending{}), "after Close"},
		"thread -1":        {headed().WriteEvent(&Event{Thread: -1}), "event 0 cannot be written: its thread is -1"},
		"thread 1048576":   {headed().WriteEvent(&Event{Thread: MaxThreads}), "its thread is 1048576"},
		"enabled 1048576":  {headed().WriteEvent(&Event{Enabled: high}), "enabled set goes beyond thread 1048575"},
		"thread gap":       {headed().WriteThread(Thread{ID: 1}), "thread 1 written where thread 0"},
		"thread below 0":   {headed().WriteThread(Thread{ID: -1}), "thread -1 written where thread 0"},
		"free of nothing":  {headed().WriteFree(0, 0), "heap block 0 is freed, but 0 were written"},
		"message too long": {headed().Close(Ending{Message: strings.Repeat("x", maxRecord)}), "4194304 is the limit"},
		"stack 0":          {Encode(io.Discard, &Trace{Stacks: [][]Site{{1}}}), "call stack 0 is not empty"},
		"thread table":     {Encode(io.Discard, &Trace{Threads: []Thread{{ID: 3}}}), "entry 0 has thread id 3"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.words) {
			t.Errorf("%s: error %v, want one with %q", name, c.err, c.words)
		}
	}
	e := begun()
	first := e.WriteModule(Module{})
	if err := e.WriteHeader(Header{}); err != first {
		t.Errorf("after an error: %v, want the first one, %v", err, first)
	}
}

func TestNotATrace(t *testing.T) {
	text, err := MarshalText(&Trace{})
	if err != nil {
		t.Fatal(err)
	}
	file := mustEncode(t, &Trace{})
	for name, c := range map[string]struct {
		content []byte
		reason  error
		words   string
	}{
		"empty":       {nil, ErrNotTrace, "is empty"},
		"other":       {[]byte("#!/bin/sh\nexit 1\n"), ErrNotTrace, "not a heddle trace: give one that heddle find, test or record wrote"},
		"short":       {[]byte{'#'}, ErrNotTrace, "not a heddle trace"},
		"text form":   {text, ErrNotTrace, "text form"},
		"as text":     {bytes.Replace(file, []byte("\r\n"), []byte("\n"), 1), ErrNotTrace, "took it for text"},
		"cut magic":   {file[:5], ErrIncomplete, "ends after 0 events"},
		"cut version": {file[:preambleSize-1], ErrIncomplete, "ends after 0 events"},
		"cut header":  {file[:preambleSize+3], ErrIncomplete, "ends after 0 events"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.hdl")
			if err := os.WriteFile(path, c.content, 0o666); err != nil {
				t.Fatal(err)
			}
			for _, read := range []func(string, ...Option) (*Trace, error){ReadFile, ReadPrefix} {
				tr, err := read(path)
				wantError(t, err, c.reason, c.words, path)
				if tr != nil {
					t.Errorf("there is a trace: %+v", tr)
				}
			}
		})
	}
}

func TestVersionRefused(t *testing.T) {
	for version, words := range map[uint32]string{
		FormatVersion + 1: "newer than format 1, which this heddle reads: use the heddle that wrote it",
		0:                 "older than format 1, which this heddle reads: use the heddle that wrote it, or record",
	} {
		file := mustEncode(t, simulate(1, 1, 10))
		binary.LittleEndian.PutUint32(file[len(magic):], version)
		_, err := Decode(bytes.NewReader(file))
		wantError(t, err, ErrVersion, words)
		var v *VersionError
		if !errors.As(err, &v) || v.Got != version || v.Want != FormatVersion {
			t.Errorf("error %#v", err)
		}
	}
}

func TestCheckPoints(t *testing.T) {
	if err := CheckPoints(Header{PointsVersion: 3}, 3); err != nil {
		t.Error(err)
	}
	err := CheckPoints(Header{PointsVersion: 2, Heddle: "0.9"}, 3)
	wantError(t, err, ErrPoints, "points version 2, this heddle has version 3", "heddle 0.9", "find the bug again")
	var p *PointsError
	if !errors.As(err, &p) || p.Got != 2 || p.Want != 3 {
		t.Errorf("error %#v", err)
	}
}

// A file that is cut anywhere is refused, and what is left of it is a prefix of the trace.
func TestCutAnywhere(t *testing.T) {
	want := simulate(9, 3, 2*blockEvents+500)
	file := mustEncode(t, want)
	path := filepath.Join(t.TempDir(), "cut.hdl")
	longest := 0
	step := 1
	if len(file) > 4000 {
		step = len(file) / 60
	}
	for n := len(file) - 1; n > preambleSize; n -= step {
		if err := os.WriteFile(path, file[:n], 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadFile(path); !errors.Is(err, ErrIncomplete) {
			t.Fatalf("cut after %d of %d bytes: %v", n, len(file), err)
		}
		got, err := ReadPrefix(path)
		wantError(t, err, ErrIncomplete, path)
		if got == nil {
			continue // not even the header
		}
		checkPrefix(t, got, want)
		longest = max(longest, len(got.Events))
	}
	if longest < 2*blockEvents {
		t.Errorf("the longest prefix has %d of %d events", longest, len(want.Events))
	}
}

func checkPrefix(t *testing.T, got, want *Trace) {
	t.Helper()
	if err := Validate(got); err != nil {
		t.Fatalf("prefix of %d events: %v", len(got.Events), err)
	}
	if got.Ending.Kind.Failed() || got.Ending.Kind == Clean || !strings.Contains(got.Ending.Message, "incomplete") {
		t.Fatalf("ending of a prefix: %+v", got.Ending)
	}
	if len(got.Events) > len(want.Events) {
		t.Fatalf("%d events of %d", len(got.Events), len(want.Events))
	}
	wantEqual(t, "prefix", &Trace{Events: got.Events}, &Trace{Events: want.Events[:len(got.Events)]})
}

// A byte that is changed is found, whichever it is, unless the trace stays the same.
func TestFlippedBits(t *testing.T) {
	want := simulate(11, 2, 60)
	file := mustEncode(t, want)
	for i := range file {
		for _, bit := range []byte{0x01, 0x10, 0x80} {
			bad := bytes.Clone(file)
			bad[i] ^= bit
			if got, err := Decode(bytes.NewReader(bad)); err == nil {
				// The compression has bits that mean nothing to its reader.
				wantEqual(t, "flipped", got, want)
			} else if err.Error() == "" || strings.Contains(err.Error(), "\n") {
				t.Errorf("byte %d: error %q", i, err)
			}
		}
	}
}

// The end record's checksum covers what the compression's own does not: records that were
// changed and packed again.
func TestChecksum(t *testing.T) {
	plain := unpack(t, mustEncode(t, &Trace{Header: Header{Dir: "/some/where"}}))
	i := bytes.Index(plain, []byte("/some/where"))
	plain[i+1] = 'S'
	_, err := Decode(bytes.NewReader(pack(t, plain)))
	wantError(t, err, ErrChecksum, "checksum", "get another copy")
	if !errors.Is(err, ErrDamaged) {
		t.Error("a checksum mismatch is not reported as damage")
	}
}

func TestTrailingData(t *testing.T) {
	file := mustEncode(t, simulate(1, 1, 10))
	extra := delimited(t, &tracepb.Record{Kind: &tracepb.Record_Module{Module: &tracepb.Module{}}})
	for name, bad := range map[string][]byte{
		"garbage":       append(bytes.Clone(file), "garbage"...),
		"record":        pack(t, append(unpack(t, file), extra...)),
		"another frame": append(bytes.Clone(file), pack(t, extra)[preambleSize:]...),
	} {
		if _, err := Decode(bytes.NewReader(bad)); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s after the end: %v", name, err)
		}
	}
}

// What a length in the file says is not what is allocated.
func TestAbsurdLengths(t *testing.T) {
	header := delimited(t, &tracepb.Record{Kind: &tracepb.Record_Header{Header: &tracepb.Header{}}})
	block := func(b *tracepb.EventBlock) []byte {
		return append(bytes.Clone(header), delimited(t, &tracepb.Record{Kind: &tracepb.Record_Events{Events: b}})...)
	}
	wide := &tracepb.EventBlock{Count: maxBlockEvents, IntervalThread: []uint32{0}, IntervalLength: []uint32{maxBlockEvents}, CodeOp: []uint32{1}, CodeSite: []int64{0}}
	const words = 64 // of each set
	for i := range maxBlockEvents {
		wide.EnabledLength = append(wide.EnabledLength, 1)
		if i == 0 {
			wide.EnabledChanges = append(wide.EnabledChanges, words)
			for w := range words {
				wide.EnabledThread = append(wide.EnabledThread, uint32(64*(w+1)))
			}
			continue
		}
		wide.EnabledChanges = append(wide.EnabledChanges, 1)
		wide.EnabledThread = append(wide.EnabledThread, uint32(i%64))
	}
	for name, c := range map[string]struct {
		plain  []byte
		reason error
	}{
		"record":          {protowire.AppendVarint(bytes.Clone(header), 1<<62), ErrLimit},
		"record, at most": {protowire.AppendVarint(bytes.Clone(header), maxRecord), ErrIncomplete},
		"no length":       {append(bytes.Clone(header), bytes.Repeat([]byte{0xff}, 20)...), ErrDamaged},
		"events": {block(&tracepb.EventBlock{Count: 1<<32 - 1, IntervalThread: []uint32{0}, IntervalLength: []uint32{1<<32 - 1},
			CodeOp: []uint32{1}, CodeSite: []int64{0}, EnabledLength: []uint32{1<<32 - 1}, EnabledChanges: []uint32{0}}), ErrDamaged},
		"interval": {block(&tracepb.EventBlock{Count: 1, IntervalThread: []uint32{0}, IntervalLength: []uint32{1<<32 - 1}}), ErrDamaged},
		"thread":   {append(bytes.Clone(header), delimited(t, &tracepb.Record{Kind: &tracepb.Record_Thread{Thread: &tracepb.Thread{Id: 1 << 31}}})...), ErrLimit},
		"sets":     {block(wide), ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			file := pack(t, c.plain)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Decode(bytes.NewReader(file))
			runtime.ReadMemStats(&after)
			if !errors.Is(err, c.reason) {
				t.Errorf("error %v, want one that is %v", err, c.reason)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
				t.Errorf("%d MiB were allocated", n>>20)
			}
		})
	}
}

// Small files that represent large traces cost what the caller allows.
func TestMemoryLimit(t *testing.T) {
	spin := make([]Event, blockEvents)
	for i := range spin {
		spin[i] = Event{Op: OpYield, Enabled: ThreadSet{Low: 1}}
	}
	var b bytes.Buffer
	e, err := NewEncoder(&b)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.WriteHeader(Header{}); err != nil {
		t.Fatal(err)
	}
	for range 30 {
		if err := e.WriteEvents(spin); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(Ending{}); err != nil {
		t.Fatal(err)
	}
	if b.Len() > 100<<10 {
		t.Errorf("%d equal events take %d bytes", 30*len(spin), b.Len())
	}
	_, err = Decode(bytes.NewReader(b.Bytes()), MemoryLimit(8<<20))
	wantError(t, err, ErrLimit, "8 MiB", "trace.Reader", "trace.MemoryLimit")
	tr, err := Decode(bytes.NewReader(b.Bytes()), MemoryLimit(1<<30))
	if err != nil || len(tr.Events) != 30*len(spin) {
		t.Errorf("within the limit: %v", err)
	}
	// The reader itself keeps no events, so it has no use for the limit.
	r, err := NewReader(bytes.NewReader(b.Bytes()), MemoryLimit(1<<10))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for _, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != 30*len(spin) {
		t.Errorf("%d events read", n)
	}

	var frames bytes.Buffer
	if e, err = NewEncoder(&frames); err != nil {
		t.Fatal(err)
	}
	if err := e.WriteHeader(Header{}); err != nil {
		t.Fatal(err)
	}
	for range 30 {
		if _, err := e.WriteStack(make([]Site, 300_000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(Ending{}); err != nil {
		t.Fatal(err)
	}
	_, err = Decode(&frames, MemoryLimit(8<<20))
	wantError(t, err, ErrLimit, "8 MiB")
}

// A million events go through writer and reader in the memory of a few blocks.
func TestBoundedMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes and reads a million events")
	}
	const events = 1_000_000
	name := filepath.Join(t.TempDir(), "large.hdl")
	w, err := NewWriter(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteHeader(Header{}); err != nil {
		t.Fatal(err)
	}
	base := liveHeap()
	for i := range events {
		e := Event{Thread: ThreadID(i / 7 % 5), Op: OpWrite, Site: MakeSite(0, uint64(i%97)), Object: MakeObject(RegionHeap, 0, uint64(i)*8),
			Value: uint64(i) * 31, Enabled: ThreadSet{Low: 31}}
		if err := w.WriteEvent(&e); err != nil {
			t.Fatal(err)
		}
	}
	if n := liveHeap() - base; n > 24<<20 {
		t.Errorf("the writer holds %d MiB after %d events", n>>20, events)
	}
	if err := w.Close(Ending{}); err != nil {
		t.Fatal(err)
	}
	r, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	base = liveHeap()
	i := 0
	for e, err := range r.Events() {
		if err != nil {
			t.Fatal(err)
		}
		if e.Value != uint64(i)*31 || e.Object.Offset() != uint64(i)*8 || e.Thread != ThreadID(i/7%5) {
			t.Fatalf("event %d is %+v", i, e)
		}
		i++
	}
	if i != events {
		t.Errorf("%d events read", i)
	}
	if n := liveHeap() - base; n > 24<<20 {
		t.Errorf("the reader holds %d MiB", n>>20)
	}
}

func liveHeap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// A disk that fails is not a damaged file.
func TestReadErrorIsPassedOn(t *testing.T) {
	file := mustEncode(t, simulate(1, 2, 3000))
	boom := errors.New("input/output error")
	for _, n := range []int{3, len(file) / 2} {
		_, err := Decode(io.MultiReader(bytes.NewReader(file[:n]), failingReader{boom}))
		wantError(t, err, boom, "input/output error")
		if errors.Is(err, ErrDamaged) || errors.Is(err, ErrIncomplete) {
			t.Errorf("a read error is taken for damage: %v", err)
		}
	}
}

type failingReader struct{ err error }

func (f failingReader) Read([]byte) (int, error) { return 0, f.err }
