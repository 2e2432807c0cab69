package schedule

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/heddle-dev/heddle/trace"
	"github.com/heddle-dev/heddle/trace/tracepb"
)

// threads makes n threads, all but main started by main.
func threads(n int) []trace.Thread {
	out := make([]trace.Thread, n)
	for i := range out {
		out[i] = trace.Thread{ID: trace.ThreadID(i), Parent: 0, Nth: i, Name: 0x9e3779b97f4a7c15 * uint64(i+1)}
	}
	if n > 0 {
		out[0].Parent = -1
	}
	return out
}

// rounds is the script of n threads that in turn do k rounds of lock, read, write, unlock.
func rounds(n, k int) []Step {
	var out []Step
	for i := range k {
		for t := range n {
			for j, op := range []trace.Op{trace.OpMutexLock, trace.OpRead, trace.OpWrite, trace.OpMutexUnlock} {
				s := Step{Thread: trace.ThreadID(t), Op: op, Site: trace.MakeSite(0, 0x1200+uint64(j)*5), Wake: -1}
				if i%9 == t {
					s.Site += 0x40
				}
				out = append(out, s)
			}
		}
	}
	return out
}

func drawScript(t *rapid.T) ([]Step, []trace.Thread) {
	n := rapid.IntRange(0, 5).Draw(t, "threads")
	ths := make([]trace.Thread, 0, n)
	names := rapid.SliceOfNDistinct(rapid.Uint64(), n, n, rapid.ID[uint64]).Draw(t, "names")
	for i := range n {
		ths = append(ths, trace.Thread{ID: trace.ThreadID(i), Parent: trace.ThreadID(rapid.IntRange(-1, n-1).Draw(t, "parent")),
			Nth: rapid.IntRange(0, 1<<31-1).Draw(t, "nth"), Name: names[i]})
	}
	var script []Step
	if n > 0 {
		step := rapid.Custom(func(t *rapid.T) Step {
			return Step{
				Thread:  trace.ThreadID(rapid.IntRange(0, n-1).Draw(t, "thread")),
				Op:      trace.Op(rapid.Uint16().Draw(t, "op")),
				Site:    trace.Site(rapid.Uint64().Draw(t, "site")),
				Wake:    trace.ThreadID(rapid.IntRange(-1, n-1).Draw(t, "wake")),
				Choice:  rapid.IntRange(0, 9).Draw(t, "choice"),
				Timeout: rapid.Bool().Draw(t, "timeout"),
			}
		})
		few := rapid.SliceOfN(step, 1, 6).Draw(t, "kinds")
		script = rapid.SliceOfN(rapid.SampledFrom(few), 0, 60).Draw(t, "script")
	}
	return script, ths
}

func wantParsed(t interface {
	Helper()
	Fatalf(string, ...any)
}, s string, script []Step, ths []trace.Thread) {
	t.Helper()
	gotScript, gotThreads, _, err := Parse(s)
	if err != nil {
		t.Fatalf("%v in %s", err, s)
	}
	if len(script)+len(gotScript) > 0 && !reflect.DeepEqual(gotScript, script) {
		t.Fatalf("script\n%v, want\n%v", gotScript, script)
	}
	if len(ths)+len(gotThreads) > 0 && !reflect.DeepEqual(gotThreads, ths) {
		t.Fatalf("threads\n%+v, want\n%+v", gotThreads, ths)
	}
}

func TestStringRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		script, ths := drawScript(t)
		s := Format(script, ths)
		if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") != "" {
			t.Fatalf("characters in %s", s)
		}
		wantParsed(t, s, script, ths)
		wantParsed(t, "  "+s+"\n", script, ths)
	})
}

// What only Thread has besides its name does not travel.
func TestStringThreads(t *testing.T) {
	ths := threads(2)
	ths[1].Entry, ths[1].Label, ths[1].Ended = 7, "worker", true
	wantParsed(t, Format(nil, ths), nil, threads(2))
}

// golden is also the example of docs/trace-format.md.
const golden = "hds1.p12.KLUv_QQAvQIAhAQKAgEAEgIAARoQFXxKf7l5N54q-JT-cvNuPCAIKgIAATICBAQ6CBJQURVCEIDJgAEKCgqdSggAAAIAUggAAVoIAAECAwQFBgcFAGCGGwUlNC60DlwZzrRGIg"

// A published string must stay readable: it may be in a bug report.
func TestStringGolden(t *testing.T) {
	script := rounds(2, 1)
	script[7].Timeout = true
	script[2].Wake = 1
	if s := Format(script, threads(2)); s != golden {
		t.Logf("Format now gives another string, which is allowed: %s", s)
	}
	wantParsed(t, golden, script, threads(2))
	doc, err := os.ReadFile("../docs/trace-format.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), golden) {
		t.Error("docs/trace-format.md has another example")
	}
}

func TestStringSize(t *testing.T) {
	for _, c := range []struct{ threads, rounds, most int }{
		{2, 3, 170}, {3, 100, 400}, {8, 1000, 1200},
	} {
		script := rounds(c.threads, c.rounds)
		s := Format(script, threads(c.threads))
		t.Logf("%d threads, %d steps: %d characters", c.threads, len(script), len(s))
		if len(s) > c.most {
			t.Errorf("%d threads, %d steps: %d characters, expected at most %d", c.threads, len(script), len(s), c.most)
		}
		wantParsed(t, s, script, threads(c.threads))
	}
}

// pack makes a schedule string of any bytes.
func pack(plain []byte) string {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf("%s%d.%s", stringMagic, PointsVersion, base64.RawURLEncoding.EncodeToString(z.EncodeAll(plain, nil)))
}

func packSchedule(t testing.TB, p *tracepb.Schedule) string {
	t.Helper()
	plain, err := proto.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return pack(plain)
}

func TestStringErrors(t *testing.T) {
	good := Format(rounds(2, 2), threads(2))
	body := good[strings.LastIndex(good, ".")+1:]
	schedule := func(change func(*tracepb.Schedule)) string {
		p := &tracepb.Schedule{
			ThreadParent: []int32{-1, 0}, ThreadNth: []uint64{0, 1}, ThreadName: []uint64{5, 6}, Count: 3,
			IntervalThread: []uint32{0, 1}, IntervalLength: []uint32{1, 2},
			CodeOp: []uint32{1, 2}, CodeSite: []int64{3, 4}, Code: []uint32{0, 1, 0},
		}
		change(p)
		return packSchedule(t, p)
	}
	if _, _, _, err := Parse(schedule(func(*tracepb.Schedule) {})); err != nil {
		t.Fatalf("unchanged: %v", err)
	}
	for name, c := range map[string]struct{ s, words string }{
		"empty":           {"", `does not begin like one ("", not "hds1.p12.")`},
		"other":           {"https://example.org/" + good, `does not begin like one ("https://example.", not "hds1.p12."): paste all of it`},
		"next form":       {"hds2" + good[4:], `has a form this heddle does not know (it begins with "hds2.p12", not with "hds1.p"): use the heddle`},
		"points":          {stringMagic + "1." + body, "scheduling points version 1, this heddle has version 12"},
		"points missing":  {stringMagic + "." + body, `has "" where its scheduling points version should be`},
		"points negative": {stringMagic + "-1." + body, `has "-1" where its scheduling points version should be`},
		"space":           {good[:30] + " " + good[30:], `has a character that does not belong there (' ', number 31 of`},
		"padding":         {good + "=", "has a character that does not belong there ('=', number"},
		"broken":          {good[:30] + "\r\n" + good[30:], "is broken into lines after character 30: join them"},
		"cut":             {good[:len(good)-7], "has a part missing: paste all of it"},
		"cut by one":      {good[:len(good)-1], "paste all of it"},
		"changed":         {strings.Replace(good, good[40:42], "zz", 1), "paste all of it"},
		"long":            {good + strings.Repeat("A", MaxString), "is longer than 16 MiB: use the trace file"},
		"not a message":   {pack([]byte("\xff\xff\xff")), "is damaged: make it again"},
		"bomb":            {pack(make([]byte, maxPlain+1)), "is damaged or has a part missing"},
		"names":           {schedule(func(p *tracepb.Schedule) { p.ThreadName = p.ThreadName[:1] }), "has 1 thread names, 2 parents and 2 numbers"},
		"equal names":     {schedule(func(p *tracepb.Schedule) { p.ThreadName[1] = 5 }), "gives threads 0 and 1 the same name"},
		"parent":          {schedule(func(p *tracepb.Schedule) { p.ThreadParent[1] = 2 }), "child number 1 of thread 2, where there are 2 threads"},
		"number":          {schedule(func(p *tracepb.Schedule) { p.ThreadNth[1] = 1 << 40 }), "child number 1099511627776 of thread 0"},
		"steps":           {schedule(func(p *tracepb.Schedule) { p.Count = 4 }), "has columns that do not fit 4 steps"},
		"many steps":      {schedule(func(p *tracepb.Schedule) { p.Count, p.Code, p.IntervalLength[0] = 1<<32-1, nil, 1<<32-3 }), "has 4294967295 steps, more than 4194304: use the trace file"},
		"no codes":        {schedule(func(p *tracepb.Schedule) { p.CodeOp, p.CodeSite, p.Code = nil, nil, nil }), "has columns that do not fit 3 steps"},
		"intervals":       {schedule(func(p *tracepb.Schedule) { p.IntervalLength[1] = 3 }), "has intervals that are longer than its 3 steps"},
		"short intervals": {schedule(func(p *tracepb.Schedule) { p.IntervalLength[1] = 1 }), "has intervals of 2 steps together, where there are 3 steps"},
		"interval column": {schedule(func(p *tracepb.Schedule) { p.IntervalLength = p.IntervalLength[:1] }), "has columns that do not fit"},
		"thread":          {schedule(func(p *tracepb.Schedule) { p.IntervalThread[1] = 2 }), "has a step of thread 2, where there are 2 threads"},
		"code":            {schedule(func(p *tracepb.Schedule) { p.Code[2] = 2 }), "has step 2 of kind 2, where there are 2"},
		"code columns":    {schedule(func(p *tracepb.Schedule) { p.CodeTimeout = []bool{true} }), "has 2 operations, 2 sites, 0 threads to wake, 0 cases to try and 1 time-outs"},
		"choice column":   {schedule(func(p *tracepb.Schedule) { p.CodeChoice = []uint32{1} }), "has 2 operations, 2 sites, 0 threads to wake, 1 cases to try"},
		"operation":       {schedule(func(p *tracepb.Schedule) { p.CodeOp[0] = 1 << 16 }), "has unknown operation 65536"},
		"wake":            {schedule(func(p *tracepb.Schedule) { p.CodeWake = []uint32{0, 3} }), "wakes thread 2, where there are 2 threads"},
		// What Format makes of a script that makes no sense.
		"no threads":   {Format(rounds(1, 1), nil), "has a step of thread 0, where there are 0 threads"},
		"thread below": {Format([]Step{{Thread: -1, Wake: -1}}, threads(1)), "has a step of thread -1, where there are 1 threads"},
		"wake below":   {Format([]Step{{Wake: -7}}, threads(1)), "wakes thread -7, where there are 1 threads"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			script, ths, points, err := Parse(c.s)
			if err == nil || !errors.Is(err, ErrString) || !strings.Contains(err.Error(), c.words) {
				t.Fatalf("error %v, want one with %q", err, c.words)
			}
			if strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), "the schedule string ") {
				t.Errorf("error %q is not one sentence", err)
			}
			if script != nil || ths != nil || points != nil {
				t.Errorf("there is a result: %v %v", script, ths)
			}
			if points := name == "points"; errors.Is(err, ErrPoints) != points {
				t.Errorf("errors.Is(%v, ErrPoints) is %t", err, !points)
			}
		})
	}
}

// No character of a string can change without Parse noticing.
func TestStringFlips(t *testing.T) {
	script, ths := rounds(3, 4), threads(3)
	good := Format(script, ths)
	for i := range good {
		bad := []byte(good)
		if bad[i] != 'x' {
			bad[i] = 'x'
		} else {
			bad[i] = 'y'
		}
		if got, gotThreads, _, err := Parse(string(bad)); err == nil && (!reflect.DeepEqual(got, script) || !reflect.DeepEqual(gotThreads, ths)) {
			t.Errorf("character %d changed, and nobody noticed: %s", i, bad)
		}
	}
}

// The schedule decides which case a select tries first.
func TestStepsOfSelect(t *testing.T) {
	got := Steps([]trace.Event{
		{Op: trace.OpSelect, Site: 1, Aux: 3, Size: 4},
		{Op: trace.OpSelectCase, Value: 2, Flags: trace.FlagNoDecision},
		{Op: trace.OpChanRecv, Site: 2, Aux: 3},
	})
	want := []Step{{Op: trace.OpSelect, Site: 1, Wake: -1, Choice: 3}, {Op: trace.OpChanRecv, Site: 2, Wake: -1}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("steps %+v, want %+v", got, want)
	}
	wantParsed(t, Format(got, threads(1)), want, threads(1))
}

func TestPointsOf(t *testing.T) {
	script := []Step{
		{Op: trace.OpMutexLock, Site: 1}, {Op: trace.OpRead, Site: 2}, {Op: trace.OpFree, Site: 3},
		{Op: trace.OpWrite, Site: 2}, {Op: trace.OpAtomicCas, Site: 4}, {Op: trace.OpYield, Site: 5},
	}
	if got, want := PointsOf(script), []trace.Site{2, 3, 4}; !reflect.DeepEqual(got, want) {
		t.Errorf("points %v, want %v", got, want)
	}
}

// The points of a schedule travel, those of its steps without taking room, the others in order.
func TestStringPoints(t *testing.T) {
	script := []Step{{Op: trace.OpRead, Site: 7, Wake: -1}, {Op: trace.OpWrite, Site: 3, Wake: -1}}
	for _, c := range []struct{ points, want []trace.Site }{
		{nil, []trace.Site{7, 3}},
		{[]trace.Site{3, 7}, []trace.Site{7, 3}},
		{[]trace.Site{9, 3, 1, 9, 1 << 63}, []trace.Site{7, 3, 1, 9, 1 << 63}},
	} {
		s := Format(script, threads(1), c.points...)
		wantParsed(t, s, script, threads(1))
		if _, _, got, _ := Parse(s); !reflect.DeepEqual(got, c.want) {
			t.Errorf("points %v, want %v", got, c.want)
		}
		if plain := Format(script, threads(1)); (s == plain) != (len(c.want) == 2) {
			t.Errorf("%s with %v, %s without", s, c.points, plain)
		}
	}
	p := &tracepb.Schedule{Point: make([]int64, maxPoints+1)}
	if _, _, _, err := Parse(packSchedule(t, p)); err == nil || !strings.Contains(err.Error(), "has 1048577 points, more than 1048576") {
		t.Error(err)
	}
}

// FuzzParse gives Parse any string.
func FuzzParse(f *testing.F) {
	for n := range 3 {
		f.Add(Format(rounds(n, 2), threads(n)))
	}
	f.Fuzz(func(t *testing.T, s string) {
		script, ths, points, err := Parse(s)
		if err != nil {
			if !errors.Is(err, ErrString) {
				t.Errorf("error %v is not an ErrString", err)
			}
			return
		}
		wantParsed(t, Format(script, ths, points...), script, ths)
	})
}

// FuzzSchedule gives Parse any message, past the compression and its checksum.
func FuzzSchedule(f *testing.F) {
	for n := range 3 {
		p, err := parseEnvelope(Format(rounds(n, 2), threads(n)))
		if err != nil {
			f.Fatal(err)
		}
		plain, err := proto.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(plain)
	}
	f.Fuzz(func(t *testing.T, plain []byte) {
		script, ths, points, err := Parse(pack(plain))
		if err != nil || len(script) > 100_000 {
			return
		}
		wantParsed(t, Format(script, ths, points...), script, ths)
	})
}

// FuzzScriptOf makes a schedule of any trace: getters included, nothing of it may be
// taken on trust.
func FuzzScriptOf(f *testing.F) {
	tr := &trace.Trace{Threads: threads(2), Events: []trace.Event{
		{Op: trace.OpThreadStart, Enabled: trace.ThreadSet{Low: 1}},
		{Op: trace.OpThreadCreate, Value: 1, Enabled: trace.ThreadSet{Low: 1}},
		{Thread: 1, Op: trace.OpThreadStart, Enabled: trace.ThreadSet{Low: 3}},
		{Thread: 1, Op: trace.OpCondSignal, Value: 1, Enabled: trace.ThreadSet{Low: 3}},
		{Op: trace.OpSelect, Aux: 2, Size: 3, Enabled: trace.ThreadSet{Low: 3}},
		{Op: trace.OpMalloc, Flags: trace.FlagNoDecision},
	}}
	var text bytes.Buffer
	if err := trace.WriteText(&text, tr); err != nil {
		f.Fatal(err)
	}
	f.Add(text.String())
	f.Add(strings.Replace(text.String(), "value=1", "value=0xffffffffffffffff", 1))
	f.Fuzz(func(t *testing.T, text string) {
		tr, err := trace.ParseText(strings.NewReader(text))
		if err != nil {
			return
		}
		script := ScriptOf(tr)
		if len(script) > len(tr.Events) {
			t.Errorf("%d steps for %d events", len(script), len(tr.Events))
		}
		PointsOf(script)
		got, _, _, err := Parse(Format(script, tr.Threads))
		if err == nil && len(got)+len(script) > 0 && !reflect.DeepEqual(got, script) {
			t.Errorf("script\n%v, want\n%v", got, script)
		}
	})
}
