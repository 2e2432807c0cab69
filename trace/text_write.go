package trace

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// TextVersion is the version of the text form that this package writes and reads.
const TextVersion = 1

// WriteText writes t's text form: every fact of the trace, one event a line, for reading
// and for tests. ParseText is its inverse; docs/trace-format.md has the grammar. Like the
// file format it cannot hold a trace whose thread table is not indexed by thread id, or
// whose call stack 0 is not empty.
func WriteText(w io.Writer, t *Trace) error {
	if err := t.tablesFit(); err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s%d\n", textMagic, TextVersion)
	writeHeaderText(b, &t.Header)
	writeTablesText(b, t)
	writeEventsText(b, t.Events)
	writeEndingText(b, &t.Ending)
	if x := t.Explained(); x != nil {
		fmt.Fprintf(b, "explanation %q %q version=%d execution=%#x\n", x.Heddle, x.BuildID, x.Version, x.Execution)
		writeBytesText(b, "explanation-data", x.Data)
	}
	fmt.Fprintf(b, "end %d\n", len(t.Events))
	return b.Flush()
}

// MarshalText returns t's text form; see WriteText. It is not a method: a Trace inside other data
// would then be text in JSON.
func MarshalText(t *Trace) ([]byte, error) {
	var b bytes.Buffer
	if err := WriteText(&b, t); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func writeHeaderText(b *bufio.Writer, h *Header) {
	str := func(key, v string) {
		if v != "" {
			fmt.Fprintf(b, "%s %q\n", key, v)
		}
	}
	str("heddle", h.Heddle)
	str("target", h.Target)
	fmt.Fprintf(b, "points-version %d\n", h.PointsVersion)
	writeWordsText(b, "command", h.Command)
	str("argv0", h.Argv0)
	writeRecipeText(b, h.Recipe)
	str("dir", h.Dir)
	writeBytesText(b, "stdin", h.Stdin)
	for _, v := range h.Env {
		fmt.Fprintf(b, "env %q\n", v)
	}
	str("env-digest", h.EnvDigest)
	for _, v := range h.Surroundings {
		fmt.Fprintf(b, "surroundings %q\n", v)
	}
	str("build-id", h.BuildID)
	str("strategy", h.Strategy)
	writeSitesText(b, "points", h.Points)
	if h.ExpectStatus != 0 {
		fmt.Fprintf(b, "expect-status %d\n", h.ExpectStatus)
	}
	writeBytesText(b, "expect-output", h.ExpectOutput)
	str("oracle", h.Oracle)
	if h.Instrumented {
		b.WriteString("instrumented\n")
	}
	for _, v := range h.Omit {
		fmt.Fprintf(b, "without %q\n", v)
	}
	for _, v := range h.TryLock {
		fmt.Fprintf(b, "try-lock %q\n", v)
	}
	str("original", h.Original)
	str("finding", h.Finding)
	str("isolation", h.Isolation)
	str("signature", h.Signature)
	if h.Values {
		b.WriteString("values\n")
	}
	if f := h.Fault; f != nil {
		fmt.Fprintf(b, "fault %q thread=%#x site=%s index=%d amount=%d event=%d\n", f.Model, f.Thread, printSite(f.Site), f.Index, f.Amount, f.Event)
	}
	if h.Live {
		b.WriteString("live\n")
	}
	if h.FairAfter != 0 {
		fmt.Fprintf(b, "fair-after %d\n", h.FairAfter)
	}
	if h.Cut != 0 {
		fmt.Fprintf(b, "cut %d\n", h.Cut)
	}
	if h.MaxAccesses != 0 {
		fmt.Fprintf(b, "max-accesses %d\n", h.MaxAccesses)
	}
	writeSitesText(b, "unrecorded", h.Unrecorded)
}

// writeWordsText writes a list of strings on one line, nothing if it is empty.
func writeWordsText(b *bufio.Writer, key string, words []string) {
	if len(words) == 0 {
		return
	}
	b.WriteString(key)
	for _, w := range words {
		b.WriteByte(' ')
		b.WriteString(strconv.Quote(w))
	}
	b.WriteByte('\n')
}

func writeRecipeText(b *bufio.Writer, r *Recipe) {
	if r == nil {
		return
	}
	str := func(key, v string) {
		if v != "" {
			fmt.Fprintf(b, "%s %q\n", key, v)
		}
	}
	fmt.Fprintf(b, "recipe %q %q\n", r.Kind, r.Tool)
	writeWordsText(b, "recipe-flags", r.Flags)
	writeWordsText(b, "recipe-env", r.Env)
	writeWordsText(b, "recipe-packages", r.Packages)
	writeWordsText(b, "recipe-args", r.Args)
	str("recipe-vet", r.Vet)
	str("recipe-run", r.Run)
	str("recipe-skip", r.Skip)
	if r.Short {
		b.WriteString("recipe-short\n")
	}
	if r.Parallel != 0 {
		fmt.Fprintf(b, "recipe-parallel %d\n", r.Parallel)
	}
	if r.RacesAllowed {
		b.WriteString("recipe-races-allowed\n")
	}
	str("recipe-leaks", r.Leaks)
	writeWordsText(b, "recipe-leak-ignore", r.LeakIgnore)
	writeWordsText(b, "recipe-exec", r.Exec)
}

// writeBytesText writes each line of data on a line of its own, long ones in pieces; nothing if
// data is nil.
func writeBytesText(b *bufio.Writer, key string, data []byte) {
	if data == nil {
		return
	}
	const width = 1 << 10
	for {
		n := min(len(data), width)
		if i := bytes.IndexByte(data[:n], '\n'); i >= 0 {
			n = i + 1
		}
		fmt.Fprintf(b, "%s %s\n", key, strconv.Quote(string(data[:n])))
		if data = data[n:]; len(data) == 0 {
			return
		}
	}
}

// writeSitesText writes a list of sites, several to a line; nothing if it is empty.
func writeSitesText(b *bufio.Writer, key string, sites []Site) {
	const perLine = 8
	for i, s := range sites {
		if i%perLine == 0 {
			b.WriteString(key)
		}
		b.WriteByte(' ')
		b.WriteString(printSite(s))
		if i%perLine == perLine-1 || i == len(sites)-1 {
			b.WriteByte('\n')
		}
	}
}

func writeTablesText(b *bufio.Writer, t *Trace) {
	if len(t.Modules) > 0 {
		b.WriteByte('\n')
	}
	for i, m := range t.Modules {
		fmt.Fprintf(b, "module m%d %q", i, m.Path)
		if m.BuildID != "" {
			fmt.Fprintf(b, " build-id=%q", m.BuildID)
		}
		if m.Program {
			b.WriteString(" program")
		}
		b.WriteByte('\n')
	}
	if len(t.Threads) > 0 {
		b.WriteByte('\n')
	}
	for i := range t.Threads {
		th := &t.Threads[i]
		fmt.Fprintf(b, "thread T%d parent=%s nth=%d name=%#x", i, printThread(th.Parent), th.Nth, th.Name)
		if th.Entry != 0 {
			fmt.Fprintf(b, " entry=%s", printSite(th.Entry))
		}
		if th.Label != "" {
			fmt.Fprintf(b, " label=%q", th.Label)
		}
		if th.Ended {
			b.WriteString(" ended")
		}
		b.WriteByte('\n')
	}
	if len(t.Stacks) > 1 {
		b.WriteByte('\n')
	}
	for i := 1; i < len(t.Stacks); i++ {
		fmt.Fprintf(b, "stack %d", i)
		for _, s := range t.Stacks[i] {
			b.WriteByte(' ')
			b.WriteString(printSite(s))
		}
		b.WriteByte('\n')
	}
	if len(t.Allocs) > 0 {
		b.WriteByte('\n')
	}
	for i := range t.Allocs {
		a := &t.Allocs[i]
		fmt.Fprintf(b, "alloc %s size=%d thread=%s", printObject(a.Object), a.Size, printThread(a.Thread))
		if a.Site != 0 {
			fmt.Fprintf(b, " site=%s", printSite(a.Site))
		}
		if a.Stack != 0 {
			fmt.Fprintf(b, " stack=%d", a.Stack)
		}
		fmt.Fprintf(b, " event=%d", a.Event)
		if a.Freed != -1 {
			fmt.Fprintf(b, " freed=%d", a.Freed)
		}
		b.WriteByte('\n')
	}
	if len(t.Locals) > 0 {
		b.WriteByte('\n')
	}
	for _, l := range t.Locals {
		fmt.Fprintf(b, "local %s site=%s cfa=%d sp=%d", printObject(l.Object), printSite(l.Site), l.CFA, l.SP)
		if l.FP != 0 {
			fmt.Fprintf(b, " fp=%d", l.FP)
		}
		if l.Below != 0 {
			fmt.Fprintf(b, " below=%s", printSite(l.Below))
		}
		if l.Function != 0 {
			fmt.Fprintf(b, " function=%s", printSite(l.Function))
		}
		fmt.Fprintf(b, " event=%d\n", l.Event)
	}
	if len(t.Mappings) > 0 {
		b.WriteByte('\n')
	}
	for i := range t.Mappings {
		m := &t.Mappings[i]
		fmt.Fprintf(b, "mapping %s size=%d offset=%d path=%s event=%d\n", printObject(m.Object), m.Size, m.Offset, strconv.Quote(m.Path), m.Event)
	}
	if len(t.Types) > 0 {
		b.WriteByte('\n')
	}
	for i := range t.Types {
		y := &t.Types[i]
		fmt.Fprintf(b, "type %s size=%d unit=%d name=%s descriptor=%s", printObject(y.Object), y.Size, y.Unit, strconv.Quote(y.Name), printSite(y.Descriptor))
		if y.Site != 0 {
			fmt.Fprintf(b, " site=%s", printSite(y.Site))
		}
		if y.Channel {
			b.WriteString(" channel")
		}
		b.WriteByte('\n')
	}
}

// The columns that every event has.
const (
	columnIndex = iota
	columnThread
	columnOp
	columnSite
	columnObject
	columnEnabled
	columns
)

var columnNames = [columns]string{"#", "thread", "op", "site", "object", "enabled"}

func eventColumns(i int, e *Event) [columns]string {
	return [columns]string{
		strconv.Itoa(i), printThread(e.Thread), printOp(e.Op), printSite(e.Site), printObject(e.Object), e.Enabled.String(),
	}
}

func writeEventsText(b *bufio.Writer, events []Event) {
	if len(events) == 0 {
		return
	}
	// Cells wider than this are not aligned, so that they do not push all lines to the right.
	const most = 32
	var width [columns]int
	for i, n := range columnNames {
		width[i] = len(n)
	}
	for i := range events {
		for k, c := range eventColumns(i, &events[i]) {
			if len(c) <= most {
				width[k] = max(width[k], len(c))
			}
		}
	}
	line := func(cells [columns]string, rest string) {
		fmt.Fprintf(b, "%*s", width[columnIndex], cells[columnIndex])
		for k := columnThread; k < columns-1; k++ {
			fmt.Fprintf(b, "  %-*s", width[k], cells[k])
		}
		if rest == "" {
			fmt.Fprintf(b, "  %s\n", cells[columnEnabled])
		} else {
			fmt.Fprintf(b, "  %-*s  %s\n", width[columnEnabled], cells[columnEnabled], rest)
		}
	}
	b.WriteByte('\n')
	line(columnNames, "")
	for i := range events {
		line(eventColumns(i, &events[i]), eventRest(&events[i]))
	}
}

// eventRest returns the fields that only some events have.
func eventRest(e *Event) string {
	var parts []string
	put := func(key, v string) { parts = append(parts, key+"="+v) }
	if e.Size != 0 {
		put("size", strconv.FormatUint(uint64(e.Size), 10))
	}
	if e.Value != 0 {
		put("value", printValue(e.Value))
	}
	if e.Aux != 0 {
		put("aux", printAux(e.Op, e.Aux))
	}
	if e.Result != 0 {
		put("result", strconv.Itoa(int(e.Result)))
	}
	if e.Flags != 0 {
		put("flags", printFlags(e.Flags))
	}
	if e.Stack != 0 {
		put("stack", strconv.FormatUint(uint64(e.Stack), 10))
	}
	return strings.Join(parts, " ")
}

func writeEndingText(b *bufio.Writer, e *Ending) {
	fmt.Fprintf(b, "\nending %s thread=%s", printKind(e.Kind), printThread(e.Thread))
	if e.Status != 0 {
		fmt.Fprintf(b, " status=%d", e.Status)
	}
	if e.Site != 0 {
		fmt.Fprintf(b, " site=%s", printSite(e.Site))
	}
	if e.Object != 0 {
		fmt.Fprintf(b, " object=%s", printObject(e.Object))
	}
	if e.Message != "" {
		fmt.Fprintf(b, " message=%q", e.Message)
	}
	b.WriteByte('\n')
	writeSitesText(b, "ending-stack", e.Stack)
	if c := e.Child; c != nil {
		fmt.Fprintf(b, "child %d %s", c.Process, printOp(c.Op))
		if c.Holder != -1 {
			fmt.Fprintf(b, " holder=%s", printThread(c.Holder))
		}
		b.WriteByte('\n')
	}
	for _, w := range e.Waiters {
		fmt.Fprintf(b, "waiter %s %s", printThread(w.Thread), printOp(w.Op))
		if w.Site != 0 {
			fmt.Fprintf(b, " site=%s", printSite(w.Site))
		}
		if w.Object != 0 {
			fmt.Fprintf(b, " object=%s", printObject(w.Object))
		}
		if w.Holder != -1 {
			fmt.Fprintf(b, " holder=%s", printThread(w.Holder))
		}
		if w.Ready {
			b.WriteString(" ready")
		}
		if w.Stack != 0 {
			fmt.Fprintf(b, " stack=%d", w.Stack)
		}
		if w.Reach != ReachUnknown {
			fmt.Fprintf(b, " reach=%d", w.Reach)
		}
		b.WriteByte('\n')
	}
	if len(e.Cycle) > 0 {
		b.WriteString("cycle")
		for _, t := range e.Cycle {
			b.WriteByte(' ')
			b.WriteString(printThread(t))
		}
		b.WriteByte('\n')
	}
	for _, c := range e.Cases {
		fmt.Fprintf(b, "case %s %s %s", printThread(c.Thread), printOp(c.Op), printObject(c.Object))
		if c.Taken != 0 {
			fmt.Fprintf(b, " taken=%d", c.Taken)
		}
		b.WriteByte('\n')
	}
	for _, a := range e.Accesses {
		fmt.Fprintf(b, "access %s %s", printThread(a.Thread), printOp(a.Op))
		if a.Site != 0 {
			fmt.Fprintf(b, " site=%s", printSite(a.Site))
		}
		if a.Object != 0 {
			fmt.Fprintf(b, " object=%s", printObject(a.Object))
		}
		if a.Size != 0 {
			fmt.Fprintf(b, " size=%d", a.Size)
		}
		if a.Stack != 0 {
			fmt.Fprintf(b, " stack=%d", a.Stack)
		}
		b.WriteByte('\n')
	}
	writeBytesText(b, "output", e.Output)
}
