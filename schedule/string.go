package schedule

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/proto"

	"github.com/heddle-dev/heddle/trace"
	"github.com/heddle-dev/heddle/trace/tracepb"
)

// A schedule string is stringMagic, the points version, a dot, and the base64url form,
// without padding, of a zstd frame with checksum that holds a tracepb.Schedule. It has
// no character that a shell, an URL or a mail program changes. docs/trace-format.md
// describes it.
const stringMagic = "hds1.p"

// MaxString is how many bytes of string Parse accepts.
const MaxString = 16 << 20

const (
	// maxPlain bounds what a string may decompress to.
	maxPlain = 16 << 20
	// maxSteps bounds a script independently of its text: steps that are all alike take no room.
	maxSteps = 4 << 20
	// maxPoints bounds the points that are not of a step.
	maxPoints = 1 << 20
)

// Every error of Parse wraps ErrString; the error for a string with another points version also
// wraps ErrPoints.
var (
	ErrString = errors.New("not a schedule string of this heddle")
	ErrPoints = trace.ErrPoints
)

// code is what steps of one instruction have in common.
type code struct {
	op      trace.Op
	site    trace.Site
	wake    trace.ThreadID
	choice  int
	timeout bool
}

// Format is script as one line that can be pasted into a bug report and parsed back with
// Parse. threads are those that the script speaks of, indexed by their id, as in
// Plan.Threads; they travel with parent, number and stable name, without entry, label and
// end. points are the memory instructions that are scheduling points (Plan.Points). Those of
// the script's own steps need not be among them, see PointsOf; the others matter where a thread
// stops at one and never continues.
//
// Format does not judge: Parse refuses the string of a script with a thread that is not
// in threads, or of one with more than 4,194,304 steps or 1,048,576 further points.
func Format(script []Step, threads []trace.Thread, points ...trace.Site) string {
	p := encodeScript(script, threads)
	var last trace.Site
	for _, s := range furtherPoints(PointsOf(script), points) {
		p.Point = append(p.Point, int64(s-last))
		last = s
	}
	plain, err := proto.MarshalOptions{Deterministic: true}.Marshal(p)
	if err != nil {
		panic(err) // numbers only: there is nothing that could fail
	}
	return stringMagic + strconv.Itoa(PointsVersion) + "." + base64.RawURLEncoding.EncodeToString(compressor().EncodeAll(plain, nil))
}

// encodeScript returns a script and its threads as a message.
func encodeScript(script []Step, threads []trace.Thread) *tracepb.Schedule {
	p := &tracepb.Schedule{Count: uint32(len(script))}
	for i := range threads {
		p.ThreadParent = append(p.ThreadParent, int32(threads[i].Parent))
		p.ThreadNth = append(p.ThreadNth, uint64(threads[i].Nth))
		p.ThreadName = append(p.ThreadName, threads[i].Name)
	}
	codes := make(map[code]uint32)
	var site trace.Site
	timeouts, wakes, choices, many := false, false, false, false
	for i, s := range script {
		if n := len(p.IntervalLength); n > 0 && s.Thread == script[i-1].Thread {
			p.IntervalLength[n-1]++
		} else {
			p.IntervalThread = append(p.IntervalThread, uint32(s.Thread))
			p.IntervalLength = append(p.IntervalLength, 1)
		}
		c := code{s.Op, s.Site, s.Wake, s.Choice, s.Timeout}
		k, ok := codes[c]
		if !ok {
			k = uint32(len(codes))
			codes[c] = k
			p.CodeOp = append(p.CodeOp, uint32(c.op))
			p.CodeSite = append(p.CodeSite, int64(c.site-site))
			p.CodeWake = append(p.CodeWake, uint32(c.wake+1))
			p.CodeChoice = append(p.CodeChoice, uint32(c.choice))
			p.CodeTimeout = append(p.CodeTimeout, c.timeout)
			site = c.site
			wakes = wakes || c.wake != -1
			choices = choices || c.choice != 0
			timeouts = timeouts || c.timeout
		}
		p.Code = append(p.Code, k)
		many = many || k != 0
	}
	if !wakes {
		p.CodeWake = nil
	}
	if !choices {
		p.CodeChoice = nil
	}
	if !timeouts {
		p.CodeTimeout = nil
	}
	if !many {
		p.Code = nil
	}
	return p
}

var compressor = sync.OnceValue(func() *zstd.Encoder {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		panic(err) // constant options
	}
	return z
})

var decompressor = sync.OnceValue(func() *zstd.Decoder {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPlain))
	if err != nil {
		panic(err) // constant options
	}
	return z
})

// FormatTrace is the schedule of a recording as a string.
func FormatTrace(t *trace.Trace) string {
	return Format(ScriptOf(t), t.Threads, t.Header.Points...)
}

// furtherPoints are those that are not known, in order and each once.
func furtherPoints(known, points []trace.Site) []trace.Site {
	of := make(map[trace.Site]bool, len(known))
	for _, s := range known {
		of[s] = true
	}
	out := slices.Compact(slices.Sorted(slices.Values(points)))
	return slices.DeleteFunc(out, func(s trace.Site) bool { return of[s] })
}

// Parse is the inverse of Format; points are all that the script needs, those of its own
// steps first. White space around the string is ignored, and nothing else. An error is an ErrString; if the string was made under another meaning of
// scheduling points it is also a *trace.PointsError.
func Parse(s string) (script []Step, threads []trace.Thread, points []trace.Site, err error) {
	p, err := parseEnvelope(strings.TrimSpace(s))
	if err == nil {
		script, threads, err = decodeScript(p)
	}
	if err == nil && len(p.Point) > maxPoints {
		err = fmt.Errorf("has %d points, more than %d: use the trace file", len(p.Point), maxPoints)
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("the schedule string %w", &stringError{err})
	}
	points = PointsOf(script)
	var last trace.Site
	for _, d := range p.Point {
		last += trace.Site(d)
		points = append(points, last)
	}
	return script, threads, points, nil
}

// decodeScript is the inverse of encodeScript. Its errors say what the message "has" or "gives".
func decodeScript(p *tracepb.Schedule) ([]Step, []trace.Thread, error) {
	threads, err := parseThreads(p)
	if err != nil {
		return nil, nil, err
	}
	script, err := parseScript(p, len(threads))
	return script, threads, err
}

// stringError makes an error an ErrString as well.
type stringError struct{ error }

func (e *stringError) Unwrap() []error { return []error{e.error, ErrString} }

func parseEnvelope(s string) (*tracepb.Schedule, error) {
	if len(s) > MaxString {
		return nil, fmt.Errorf("is longer than %d MiB: use the trace file", MaxString>>20)
	}
	rest, ok := strings.CutPrefix(s, stringMagic)
	version, body, ok2 := strings.Cut(rest, ".")
	if !ok || !ok2 {
		if strings.HasPrefix(s, "hds") && !strings.HasPrefix(s, stringMagic[:5]) {
			return nil, fmt.Errorf("has a form this heddle does not know (it begins with %.8q, not with %q): use the heddle that made it", s, stringMagic)
		}
		return nil, fmt.Errorf("does not begin like one (%.16q, not %q): paste all of it", s, stringMagic+strconv.Itoa(PointsVersion)+".")
	}
	v, err := strconv.ParseUint(version, 10, 31)
	if err != nil {
		return nil, fmt.Errorf("has %.16q where its scheduling points version should be: paste it again", version)
	}
	if v != PointsVersion {
		return nil, fmt.Errorf("cannot be followed: %w", &trace.PointsError{Got: int(v), Want: PointsVersion})
	}
	// The decoder would skip line ends.
	if i := strings.IndexAny(body, "\r\n"); i >= 0 {
		return nil, fmt.Errorf("is broken into lines after character %d: join them", len(s)-len(body)+i)
	}
	data, err := base64.RawURLEncoding.Strict().DecodeString(body)
	var corrupt base64.CorruptInputError
	if errors.As(err, &corrupt) && int(corrupt) < len(body) && !inAlphabet(body[corrupt]) {
		at := len(s) - len(body) + int(corrupt)
		return nil, fmt.Errorf("has a character that does not belong there (%q, number %d of %d): paste it again, in one line", body[corrupt], at+1, len(s))
	}
	if err != nil {
		return nil, fmt.Errorf("has a part missing: paste all of it (%v)", err)
	}
	plain, err := decompressor().DecodeAll(data, nil)
	if err != nil {
		return nil, fmt.Errorf("is damaged or has a part missing: paste all of it (%w)", err)
	}
	p := new(tracepb.Schedule)
	if err := proto.Unmarshal(plain, p); err != nil {
		return nil, fmt.Errorf("is damaged: make it again (%w)", err)
	}
	return p, nil
}

// inAlphabet reports whether c is a character of the base64url form. The decoder rejects
// such a character, too: the last one, if the string ends before its value does.
func inAlphabet(c byte) bool {
	return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '_'
}

func parseThreads(p *tracepb.Schedule) ([]trace.Thread, error) {
	n := len(p.ThreadName)
	if len(p.ThreadParent) != n || len(p.ThreadNth) != n || n > trace.MaxThreads {
		return nil, fmt.Errorf("has %d thread names, %d parents and %d numbers: make it again", n, len(p.ThreadParent), len(p.ThreadNth))
	}
	names := make(map[uint64]int, n)
	threads := make([]trace.Thread, n)
	for i := range threads {
		if o, ok := names[p.ThreadName[i]]; ok {
			return nil, fmt.Errorf("gives threads %d and %d the same name: make it again", o, i)
		}
		names[p.ThreadName[i]] = i
		if p.ThreadParent[i] < -1 || int(p.ThreadParent[i]) >= n || p.ThreadNth[i] > 1<<31-1 {
			return nil, fmt.Errorf("makes thread %d child number %d of thread %d, where there are %d threads: make it again", i, p.ThreadNth[i], p.ThreadParent[i], n)
		}
		threads[i] = trace.Thread{ID: trace.ThreadID(i), Parent: trace.ThreadID(p.ThreadParent[i]), Nth: int(p.ThreadNth[i]), Name: p.ThreadName[i]}
	}
	return threads, nil
}

func parseScript(p *tracepb.Schedule, threads int) ([]Step, error) {
	codes, err := parseCodes(p, threads)
	if err != nil {
		return nil, err
	}
	n := int(p.Count)
	if n > maxSteps {
		return nil, fmt.Errorf("has %d steps, more than %d: use the trace file", n, maxSteps)
	}
	if len(p.Code) != 0 && len(p.Code) != n || n > 0 && len(codes) == 0 || len(p.IntervalThread) != len(p.IntervalLength) {
		return nil, fmt.Errorf("has columns that do not fit %d steps: make it again", p.Count)
	}
	if n == 0 {
		return nil, nil
	}
	script := make([]Step, 0, n)
	for k, length := range p.IntervalLength {
		t := p.IntervalThread[k]
		if int64(t) >= int64(threads) {
			return nil, fmt.Errorf("has a step of thread %d, where there are %d threads: make it again", int32(t), threads)
		}
		if int64(length) > int64(n-len(script)) {
			return nil, fmt.Errorf("has intervals that are longer than its %d steps: make it again", n)
		}
		for range length {
			var c uint32
			if len(p.Code) > 0 {
				c = p.Code[len(script)]
			}
			if int64(c) >= int64(len(codes)) {
				return nil, fmt.Errorf("has step %d of kind %d, where there are %d: make it again", len(script), c, len(codes))
			}
			d := codes[c]
			script = append(script, Step{Thread: trace.ThreadID(t), Op: d.op, Site: d.site, Wake: d.wake, Choice: d.choice, Timeout: d.timeout})
		}
	}
	if len(script) != n {
		return nil, fmt.Errorf("has intervals of %d steps together, where there are %d steps: make it again", len(script), n)
	}
	return script, nil
}

func parseCodes(p *tracepb.Schedule, threads int) ([]code, error) {
	n := len(p.CodeOp)
	fits := func(column int) bool { return column == 0 || column == n }
	if len(p.CodeSite) != n || !fits(len(p.CodeWake)) || !fits(len(p.CodeChoice)) || !fits(len(p.CodeTimeout)) {
		return nil, fmt.Errorf("has %d operations, %d sites, %d threads to wake, %d cases to try and %d time-outs: make it again", n, len(p.CodeSite), len(p.CodeWake), len(p.CodeChoice), len(p.CodeTimeout))
	}
	codes := make([]code, n)
	var site trace.Site
	for i := range codes {
		site += trace.Site(p.CodeSite[i])
		c := code{op: trace.Op(p.CodeOp[i]), site: site, wake: -1}
		if p.CodeOp[i] > 1<<16-1 {
			return nil, fmt.Errorf("has unknown operation %d: make it again", p.CodeOp[i])
		}
		if len(p.CodeWake) > 0 {
			if int64(p.CodeWake[i]) > int64(threads) {
				return nil, fmt.Errorf("wakes thread %d, where there are %d threads: make it again", int32(p.CodeWake[i]-1), threads)
			}
			c.wake = trace.ThreadID(p.CodeWake[i]) - 1
		}
		if len(p.CodeChoice) > 0 {
			c.choice = int(p.CodeChoice[i])
		}
		if len(p.CodeTimeout) > 0 {
			c.timeout = p.CodeTimeout[i]
		}
		codes[i] = c
	}
	return codes, nil
}

// PointsOf lists the memory instructions among script's steps, each once, in order of
// first use: the least that Plan.Points must have for the script to be followed. A trace
// header's Points may have more, which the execution did not get to.
func PointsOf(script []Step) []trace.Site {
	var out []trace.Site
	seen := make(map[trace.Site]bool)
	for _, s := range script {
		switch s.Op.Class() {
		case trace.ClassRead, trace.ClassWrite, trace.ClassALoad, trace.ClassAStore, trace.ClassARMW:
			if !seen[s.Site] {
				seen[s.Site] = true
				out = append(out, s.Site)
			}
		}
	}
	return out
}
