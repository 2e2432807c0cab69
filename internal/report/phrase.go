package report

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/trace"
)

// phrase is an event in words, in parts so that the turns of a loop can be put together.
type phrase struct {
	verb   string
	object string
	sep    string // between object and value: ` → ` came back, ` ← ` was stored
	value  string
	note   string // in brackets at the end
	block  int    // heap block, -1 for none
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

// through is the phrase for a run of events of which p is the first and q the last.
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

func threadText(t trace.ThreadID) string { return "T" + strconv.Itoa(int(t)) }

// phrase describes event number i.
func (b *builder) phrase(i int) phrase {
	e := &b.tr.Events[i]
	at, size := i, uint32(0)
	switch e.Op.Class() {
	case trace.ClassRead, trace.ClassWrite, trace.ClassALoad, trace.ClassAStore, trace.ClassARMW:
		size = e.Size
	}
	if e.Op == trace.OpMalloc {
		at++ // the block is there from the next event on
	}
	if e.Op == trace.OpFree {
		size = 0 // the block itself, not what is in it
	}
	name := b.names.Name(e.Object, size, at)
	p := phrase{verb: e.Op.String(), object: name.Text, block: name.Alloc}
	if e.Op >= trace.OpGo {
		b.goOutcome(&p, i)
	} else {
		b.outcome(&p, e, name)
	}
	if e.Flags&trace.FlagTimeout != 0 && p.note == "" && p.value != timedOut && e.Op != trace.OpCondTimeout && e.Op != trace.OpTimerExpire {
		p.note = timedOut
	}
	return p
}

// outcome fills in the result of the event. The meaning of the fields is that of the
// operation table (runtime/include/heddle_abi.h).
func (b *builder) outcome(p *phrase, e *trace.Event, name symbol.Name) {
	number := strconv.FormatUint(e.Value, 10)
	switch e.Op {
	case trace.OpThreadCreate:
		p.verb, p.object = "create", threadText(trace.ThreadID(e.Value))
		p.fail(e)
	case trace.OpThreadCreated:
		p.verb, p.object = "return from creating", threadText(trace.ThreadID(e.Value))
	case trace.OpThreadJoin:
		p.verb, p.object = "join", threadText(trace.ThreadID(e.Value))
		p.fail(e)
	case trace.OpThreadDetach:
		p.verb, p.object = "detach", threadText(trace.ThreadID(e.Value))
	case trace.OpProcessExit:
		p.sep, p.value = " ", number
	case trace.OpSignalSend:
		p.object, p.sep, p.value = signalName(e.Value), gives, "the process"
		if e.Aux > 0 {
			p.value = threadText(trace.ThreadID(e.Aux) - 1)
		} else if e.Object.Region() == trace.RegionStack { // older traces: its own data lies on its stack
			p.value = threadText(trace.ThreadID(e.Object.Index()))
		}
		p.fail(e)
	case trace.OpSignalWait:
		p.object, p.sep, p.value = "", gives, signalName(e.Value)
		p.fail(e)
	case trace.OpSignalDeliver, trace.OpSignalInterrupt:
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
			p.note = "sent by " + threadText(trace.ThreadID(e.Aux)-1)
		}
	case trace.OpSignalReturn:
		p.object = signalName(e.Value)
	case trace.OpSignalAction:
		p.object = signalName(e.Value)
	case trace.OpSignalMask, trace.OpSignalPending:
		p.object, p.sep, p.value = "", gives, signalSet(e.Value)
	case trace.OpSignalSuspend, trace.OpSignalResume:
		p.object, p.note = "", "blocked: "+signalSet(e.Value)
	case trace.OpTimerSet:
		p.object, p.sep, p.value = threadText(trace.ThreadID(e.Aux)-1), gives, "stopped"
		if e.Value > 0 {
			p.value = "in " + time.Duration(e.Value).String()
		}
	case trace.OpTimerDelete:
		p.object = threadText(trace.ThreadID(e.Aux) - 1)
	case trace.OpTimerExpire:
		p.object, p.sep, p.value = "", gives, "nothing"
		if e.Value > 0 {
			p.value = signalName(e.Value)
		}
		if e.Flags&trace.FlagTimeout != 0 && !e.Enabled.Has(e.Thread) {
			p.note = "early"
		}
	case trace.OpCondTimeout, trace.OpSpuriousWake:
	case trace.OpSignal:
		p.object = signalName(e.Value)
		if e.Object != 0 {
			p.note = "at " + name.Text
		}
	case trace.OpMutexTrylock, trace.OpMutexTimedlock, trace.OpRwlockTryrdlock, trace.OpRwlockTrywrlock, trace.OpSpinTrylock,
		trace.OpMutexLock, trace.OpMutexUnlock, trace.OpRwlockRdlock, trace.OpRwlockWrlock, trace.OpRwlockUnlock,
		trace.OpRwlockTimedrdlock, trace.OpRwlockTimedwrlock, trace.OpMutexConsistent,
		trace.OpSemOpen, trace.OpSemClose, trace.OpSemUnlink:
		p.fail(e)
	case trace.OpMutexAbandon:
		p.verb, p.note = "leave", "locked: the thread ends"
	case trace.OpRwlockQueue:
		p.verb = "queue to write"
	case trace.OpCancel:
		p.verb, p.object = "cancel", threadText(trace.ThreadID(e.Value))
	case trace.OpCancelTest:
		p.verb, p.object = "test for cancellation", ""
		p.fail(e)
	case trace.OpCondWait:
		p.note = "unlocks " + b.auxName(e)
	case trace.OpCondWake:
		p.note = "locks " + b.auxName(e) + " again"
		p.fail(e)
	case trace.OpCondSignal:
		p.sep, p.value = gives, "nobody waits"
		if e.Value > 0 {
			p.value = "wakes " + threadText(trace.ThreadID(e.Value)-1)
		}
	case trace.OpFutexWake:
		p.sep, p.value = gives, "wakes "+number
		if e.Value == 1 && e.Aux > 0 {
			p.value = "wakes " + threadText(trace.ThreadID(e.Aux)-1)
		}
	case trace.OpCondBroadcast:
		p.sep, p.value = gives, "wakes "+number
	case trace.OpSemInit, trace.OpSemWait, trace.OpSemPost, trace.OpSemGetvalue, trace.OpSemTrywait, trace.OpSemTimedwait:
		p.sep, p.value = gives, number
		p.fail(e)
	case trace.OpBarrierInit:
		p.sep, p.value = gives, number
	case trace.OpBarrierWait:
		p.sep, p.value = gives, number+" arrived"
	case trace.OpOnceBegin:
		p.sep, p.value = gives, "done already"
		if e.Value == 1 {
			p.value = "runs it"
		}
	case trace.OpYield:
		p.object = ""
		if e.Flags&trace.FlagForced != 0 {
			p.note = "put in by heddle"
		}
	case trace.OpSleep:
		p.object = time.Duration(e.Value).String()
		p.fail(e)
	case trace.OpFutexWait, trace.OpFutexWakeup:
		p.fail(e)
	case trace.OpFdRead, trace.OpFdWrite, trace.OpFdPoll, trace.OpFdClose, trace.OpFdShutdown, trace.OpFdListen,
		trace.OpFdConnect, trace.OpFdAccept, trace.OpFdOpen, trace.OpFdCtl:
		p.descriptor(e)
	case trace.OpMalloc:
		p.note = fmt.Sprintf("%d bytes", e.Size)
	case trace.OpThreadEnd, trace.OpThreadExit, trace.OpAbort:
		p.object = ""
	case trace.OpThreadStart:
		p.object = b.roles[e.Thread].name
	case trace.OpFree:
	case trace.OpRead, trace.OpReadRange:
		p.access(b, e, gives, name)
	case trace.OpWrite, trace.OpWriteRange:
		p.access(b, e, stores, name)
	case trace.OpAtomicLoad:
		p.access(b, e, gives, name)
		p.order(e)
	case trace.OpAtomicStore:
		p.access(b, e, stores, name)
		p.order(e)
	case trace.OpAtomicRmw:
		p.access(b, e, ": ", name)
		if p.value != "" {
			p.value = name.Type.Format(e.Aux, e.Size) + gives + p.value
		}
		p.order(e)
	case trace.OpAtomicCas:
		p.access(b, e, gives, name)
		p.order(e)
		done := "failed"
		if e.Result == 1 {
			done = "done"
		}
		p.note = strings.TrimSuffix(done+", "+p.note, ", ")
	case trace.OpAtomicFence:
		p.object = ""
		p.order(e)
	default:
		if e.Result != 0 {
			p.sep, p.value = gives, strconv.Itoa(int(e.Result))
		}
	}
}

var fdVerbs = map[trace.Op]string{
	trace.OpFdRead: "read", trace.OpFdWrite: "write", trace.OpFdPoll: "poll", trace.OpFdClose: "close", trace.OpFdShutdown: "shutdown",
	trace.OpFdListen: "listen", trace.OpFdConnect: "connect", trace.OpFdAccept: "accept", trace.OpFdOpen: "open", trace.OpFdCtl: "control",
}

// descriptor is the phrase for an operation on a descriptor: by the number that the call was
// given.
func (p *phrase) descriptor(e *trace.Event) {
	kind, _, ok := e.Object.Channel()
	fd := int32(e.Aux)
	p.verb, p.object = fdVerbs[e.Op], kind
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
	switch e.Op {
	case trace.OpFdRead, trace.OpFdWrite:
		p.sep, p.value = gives, strconv.FormatUint(e.Value, 10)+unit
		if e.Op == trace.OpFdRead && e.Value == 0 && ok {
			p.value = "end"
		}
	case trace.OpFdPoll:
		p.sep, p.value = gives, strconv.FormatUint(e.Value, 10)+" ready"
		if e.Value == 0 {
			p.value = "nothing is ready"
		}
	case trace.OpFdAccept:
		p.sep, p.value = gives, "fd "+strconv.FormatUint(e.Value, 10)
	case trace.OpFdShutdown:
		p.note = [...]string{"SHUT_RD", "SHUT_WR", "SHUT_RDWR"}[min(e.Value, 2)]
	}
}

// signalName is `SIGUSR1`, or the number of a signal without a name.
func signalName(n uint64) string {
	if name := unix.SignalName(syscall.Signal(n)); name != "" {
		return name
	}
	return strconv.FormatUint(n, 10)
}

// signalSet is `{SIGINT, SIGUSR1}`.
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

// auxName is the name of an event's second object.
func (b *builder) auxName(e *trace.Event) string {
	return b.names.Name(trace.Object(e.Aux), 0, len(b.tr.Events)).Text
}

// fail says that a call failed, and how.
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

// access tells the value of a memory access, where the trace has one. Accesses that were
// not scheduling points are recorded without.
func (p *phrase) access(b *builder, e *trace.Event, sep string, name symbol.Name) {
	known := b.values && (e.Value != 0 || e.Flags&trace.FlagNoChoice == 0)
	switch {
	case known && e.Size >= 1 && e.Size <= 8:
		p.sep, p.value = sep, name.Type.Format(e.Value, e.Size)
	case e.Size > 8:
		p.note = fmt.Sprintf("%d bytes", e.Size)
	}
}

var orders = [...]string{"relaxed", "consume", "acquire", "release", "acq_rel", ""}

// order tells the memory order, unless it is the strongest.
func (p *phrase) order(e *trace.Event) {
	if o := int(e.Flags & trace.FlagOrder >> 4); o < len(orders) {
		p.note = orders[o]
	}
}
