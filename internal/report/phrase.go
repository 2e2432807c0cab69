package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/trace"
)

// phrase is the description of an event, in parts so that the turns of a loop can be combined.
type phrase struct {
	verb   string
	object string
	sep    string // between object and value: ` → ` came back, ` ← ` was stored
	value  string
	note   string // in brackets at the end
	after  string // the value of the object from then on; empty if unknown
	block  int    // heap block, or -1
}

func (p phrase) brief() string { return strings.TrimSpace(p.verb + " " + p.object) }

func (p phrase) text() string {
	s := p.brief()
	if p.value != "" {
		s += p.sep + p.value
	}
	if p.note != "" {
		s += " (" + p.note + ")"
	}
	return s
}

// through returns the phrase for a series of events of which p is the first and q the last.
func (p phrase) through(q phrase) phrase {
	join := func(a, b string) string {
		if a == b {
			return a
		}
		return a + " … " + b
	}
	if p.verb != q.verb {
		return p
	}
	p.object = join(p.object, q.object)
	p.value = join(p.value, q.value)
	p.after = q.after
	if p.sep == "" {
		p.sep = q.sep
	}
	if p.note != q.note {
		p.note = ""
	}
	return p
}

const (
	gives  = " → "
	stores = " ← "

	timedOut = "timed out"
)

// phrase describes event number i.
func (b *builder) phrase(i int) phrase {
	e := &b.tr.Events[i]
	at, size := i, uint32(0)
	switch e.Op.Class() {
	case trace.ClassRead, trace.ClassWrite, trace.ClassALoad, trace.ClassAStore, trace.ClassARMW:
		size = e.Size
	}
	if e.Op == trace.OpMalloc {
		size = symbol.Block
		at++ // the block exists from the next event on
	}
	if e.Op == trace.OpFree {
		size = symbol.Block // the block itself, not what is in it
	}
	name := b.names.Name(e.Object, size, at)
	spec := ops.Of(e.Op)
	p := phrase{verb: cmp.Or(spec.Verb, e.Op.String()), object: name.Text, block: name.Alloc}
	if e.Op >= trace.OpGo {
		b.tellGo(&p, i)
	} else {
		b.tell(&p, spec, e, name)
	}
	if e.Flags&trace.FlagTimeout != 0 && p.note == "" && p.value != timedOut && e.Op != trace.OpCondTimeout && e.Op != trace.OpTimerExpire {
		p.note = timedOut
	}
	return p
}

// tell adds the result of the event, in the form given by its row in the table of operations.
func (b *builder) tell(p *phrase, spec *ops.Spec, e *trace.Event, name symbol.Name) {
	number := strconv.FormatUint(e.Value, 10)
	switch spec.Tells {
	case ops.TellObject:
	case ops.TellVerb:
		p.object = ""
	case ops.TellFailure:
		p.fail(e)
	case ops.TellLater:
		p.object = ""
		p.fail(e)
	case ops.TellTarget:
		p.object = ThreadText(trace.ThreadID(e.Value))
	case ops.TellThread:
		p.object = ThreadText(trace.ThreadID(e.Value))
		p.fail(e)
	case ops.TellStart:
		p.object = b.roles[e.Thread].name
	case ops.TellCall:
		p.object = "a function"
		if frames := b.names.Call(e.Site); len(frames) > 0 && frames[len(frames)-1].Known() {
			p.object = frames[len(frames)-1].Func // inlined functions have no entry of their own
		}
		if e.Result == 1 {
			p.note = "longjmp"
		}
	case ops.TellStatus:
		p.sep, p.value = " ", number
	case ops.TellValue:
		p.sep, p.value = gives, number
	case ops.TellCount:
		p.sep, p.value = gives, number
		p.fail(e)
	case ops.TellAbandon:
		p.note = "locked: the thread ends"
	case ops.TellUnlocks:
		p.note = "unlocks " + b.auxName(e)
	case ops.TellLocks:
		p.note = "locks " + b.auxName(e) + " again"
		p.fail(e)
	case ops.TellWoken:
		p.sep, p.value = gives, "nobody waits"
		if e.Value > 0 {
			p.value = "wakes " + ThreadText(trace.ThreadID(e.Value)-1)
		}
	case ops.TellWakes:
		p.sep, p.value = gives, "wakes "+number
		if spec.Aux == ops.ThreadPlusOne && e.Value == 1 && e.Aux > 0 {
			p.value = "wakes " + ThreadText(trace.ThreadID(e.Aux)-1)
		}
	case ops.TellArrivals:
		p.sep, p.value = gives, number+" arrived"
	case ops.TellOnce:
		p.sep, p.value = gives, "done already"
		if e.Value == 1 {
			p.value = "runs it"
		}
	case ops.TellYield:
		p.object = ""
		if e.Flags&trace.FlagForced != 0 {
			p.note = "put in by heddle"
		}
	case ops.TellSleep:
		p.object = time.Duration(e.Value).String()
		p.fail(e)
	case ops.TellDescriptor:
		p.descriptor(spec, e)
	case ops.TellResult:
		if e.Result != 0 {
			p.sep, p.value = gives, strconv.Itoa(int(e.Result))
		}
	default:
		if spec.Of == ops.Memory || spec.Of == ops.Block {
			b.tellAccess(p, spec, e, name)
		} else {
			b.tellSignal(p, spec, e, name)
		}
	}
}

// tellSignal is tell for signals and timers.
func (b *builder) tellSignal(p *phrase, spec *ops.Spec, e *trace.Event, name symbol.Name) {
	switch spec.Tells {
	case ops.TellCrash:
		p.object = signalName(e.Value)
		if e.Object != 0 {
			p.note = "at " + name.Text
		}
	case ops.TellSend:
		p.object, p.sep, p.value = signalName(e.Value), gives, "the process"
		if e.Aux > 0 {
			p.value = ThreadText(trace.ThreadID(e.Aux) - 1)
		} else if e.Object.Region() == trace.RegionStack { // older traces: its own data lies on its stack
			p.value = ThreadText(trace.ThreadID(e.Object.Index()))
		}
		p.fail(e)
	case ops.TellReceived:
		p.object, p.sep, p.value = "", gives, signalName(e.Value)
		p.fail(e)
	case ops.TellDelivery:
		handler := p.object
		if o := e.Object; o.Region() == trace.RegionGlobal {
			if f := b.names.Function(trace.MakeSite(o.Index(), o.Offset())); f.Func != "" {
				handler = f.Func
			}
		}
		p.object, p.sep, p.value = signalName(e.Value), gives, "runs "+handler
		switch {
		case e.Value == 0:
			p.object, p.value = "", "taken by another thread"
		case e.Object == 0:
			p.value = "no handler"
		}
		if e.Aux > 0 {
			p.note = "sent by " + ThreadText(trace.ThreadID(e.Aux)-1)
		}
	case ops.TellSignal:
		p.object = signalName(e.Value)
	case ops.TellSignals:
		p.object, p.sep, p.value = "", gives, signalSet(e.Value)
	case ops.TellMask:
		p.object, p.note = "", "blocked: "+signalSet(e.Value)
	case ops.TellArm:
		p.object, p.sep, p.value = ThreadText(trace.ThreadID(e.Aux)-1), gives, "stopped"
		if e.Value > 0 {
			p.value = "in " + time.Duration(e.Value).String()
		}
	case ops.TellTimer:
		p.object = ThreadText(trace.ThreadID(e.Aux) - 1)
	case ops.TellExpiry:
		p.object, p.sep, p.value = "", gives, "nothing"
		if e.Value > 0 {
			p.value = signalName(e.Value)
		}
		if e.Flags&trace.FlagTimeout != 0 && !e.Enabled.Has(e.Thread) {
			p.note = "early"
		}
	}
}

// tellAccess is tell for memory.
func (b *builder) tellAccess(p *phrase, spec *ops.Spec, e *trace.Event, name symbol.Name) {
	switch spec.Tells {
	case ops.TellAllocation:
		p.note = fmt.Sprintf("%d bytes", e.Bytes())
		if e.Result != 0 {
			p.note += ", failed"
		}
	case ops.TellRead:
		p.access(b, e, gives, name)
		p.after = p.value
	case ops.TellWrite:
		p.access(b, e, stores, name)
		p.after = p.value
	case ops.TellAtomicRead:
		p.access(b, e, gives, name)
		p.after = p.value
		p.order(e)
	case ops.TellAtomicWrite:
		p.access(b, e, stores, name)
		p.after = p.value
		p.order(e)
	case ops.TellExchange:
		p.access(b, e, ": ", name)
		p.after = p.value
		if p.value != "" {
			p.value = name.Type.Format(e.Aux, e.Size) + gives + p.value
		}
		p.order(e)
	case ops.TellCompare:
		p.access(b, e, gives, name)
		p.order(e)
		done := "failed"
		if spec.Done(e) {
			done = "done"
		} else {
			p.after = p.value // what it stores is not recorded
		}
		p.note = strings.TrimSuffix(done+", "+p.note, ", ")
	case ops.TellFence:
		p.object = ""
		p.order(e)
	}
}

// descriptor names the descriptor of an operation by the number that the call was given.
func (p *phrase) descriptor(spec *ops.Spec, e *trace.Event) {
	kind, _, ok := e.Object.Channel()
	fd := int32(e.Aux)
	p.object = kind
	if fd >= 0 {
		p.object = strings.TrimSpace(fmt.Sprintf("%s fd %d", kind, fd))
	}
	if e.Result != 0 {
		p.fail(e)
		return
	}
	unit := " bytes"
	if kind == "eventfd" || kind == "timerfd" {
		unit = ""
	}
	switch spec.Does {
	case ops.Receive, ops.Transmit:
		p.sep, p.value = gives, strconv.FormatUint(e.Value, 10)+unit
		if spec.Does == ops.Receive && e.Value == 0 && ok {
			p.value = "end"
		}
	case ops.Poll:
		p.sep, p.value = gives, strconv.FormatUint(e.Value, 10)+" ready"
		if e.Value == 0 {
			p.value = "nothing is ready"
		}
	case ops.Accept:
		p.sep, p.value = gives, "fd "+strconv.FormatUint(e.Value, 10)
	case ops.Close:
		if e.Op == trace.OpFdShutdown {
			p.note = [...]string{"SHUT_RD", "SHUT_WR", "SHUT_RDWR"}[min(e.Value, 2)]
		}
	}
}

// signalName returns `SIGUSR1`, or the number of a signal without a name.
func signalName(n uint64) string {
	if name := unix.SignalName(syscall.Signal(n)); name != "" {
		return name
	}
	return strconv.FormatUint(n, 10)
}

// signalSet returns `{SIGINT, SIGUSR1}`.
func signalSet(set uint64) string {
	if set == ^uint64(0) {
		return "all"
	}
	var names []string
	for n := uint64(1); n <= 64; n++ {
		if set>>(n-1)&1 != 0 {
			names = append(names, signalName(n))
		}
	}
	if len(names) > 8 {
		return fmt.Sprintf("{%d signals}", len(names))
	}
	return "{" + strings.Join(names, ", ") + "}"
}

// auxName returns the name of an event's second object.
func (b *builder) auxName(e *trace.Event) string {
	return b.names.Name(trace.Object(e.Aux), 0, len(b.tr.Events)).Text
}

// fail adds that a call failed, and its error.
func (p *phrase) fail(e *trace.Event) {
	if e.Result == 0 {
		return
	}
	p.sep, p.note = gives, ""
	switch errno := syscall.Errno(e.Result); errno {
	case syscall.EBUSY:
		p.value = "busy"
	case syscall.ETIMEDOUT:
		p.value = timedOut
	case syscall.ECANCELED:
		p.value = "cancelled"
	case syscall.EOWNERDEAD:
		p.value = "its owner has died"
	case syscall.ENOTRECOVERABLE:
		p.value = "not recoverable"
	default:
		p.value = unix.ErrnoName(errno)
		if p.value == "" {
			p.value = strconv.Itoa(int(e.Result))
		}
	}
}

// access adds the value of a memory access if the trace has it. Accesses of C programs that were not scheduling points are recorded
// without a value unless all are recorded with theirs.
func (p *phrase) access(b *builder, e *trace.Event, sep string, name symbol.Name) {
	all := b.tr.Header.Values && b.tr.Header.Target == "c" && (e.Op == trace.OpRead || e.Op == trace.OpWrite)
	known := e.Flags&trace.FlagValue != 0 || b.values && (e.Value != 0 || e.Flags&trace.FlagNoDecision == 0 || all)
	switch {
	case e.Result == -1: // it did not happen: the execution ended there
	case b.tr.Header.Target == "go" && isMap(name.Base): // its first bytes are the runtime's
	case known && e.Flags&trace.FlagPointer != 0:
		p.sep, p.value = sep, "&"+b.names.Name(trace.Object(e.Value), symbol.Block, len(b.tr.Events)).Text
	case known && e.Size >= 1 && e.Size <= 8:
		p.sep, p.value = sep, name.Type.Format(e.Value, e.Size)
		if p.value == "NULL" && b.tr.Header.Target == "go" {
			p.value = "nil"
		}
	case e.Size > 8:
		p.note = fmt.Sprintf("%d bytes", e.Size)
	}
}

// isMap reports whether an object of a Go program is named as a map; no variable can be called that.
func isMap(name string) bool {
	rest, ok := strings.CutPrefix(name, "map")
	return ok && (rest == "" || rest[0] == ' ' || rest[0] == '[')
}

var orders = [...]string{"relaxed", "consume", "acquire", "release", "acq_rel", ""}

// order adds the memory order, unless it is the strongest.
func (p *phrase) order(e *trace.Event) {
	if o := int(e.Flags & trace.FlagOrder >> 4); o < len(orders) {
		p.note = orders[o]
	}
}
