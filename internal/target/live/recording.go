package live

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/internal/symbol/elffile"
	"github.com/heddle-dev/heddle/trace"
)

// record is struct hl_record.
type record struct {
	time, place, object, value, more uint64
	size, kind                       uint32
}

const recordSize = 48

// Kinds of records: enum hl_kind.
const (
	kindRead = 1 + iota
	kindWrite
	kindReadRange
	kindWriteRange
	kindAtomicLoad
	kindAtomicStore
	kindAtomicRMW
	kindAtomicCAS
	kindAtomicCASFailed
	kindStart
	kindEnd
	kindCreate
	kindJoin
	kindLock
	kindUnlock
	kindRdlock
	kindWrlock
	kindRwunlock
	kindSpinLock
	kindSpinUnlock
	kindCondWait
	kindCondWake
	kindBarrierInit
	kindBarrierWait
	kindBarrierLeave
	kindOnceBegin
	kindOnceEnd
	kindMalloc
	kindFree
	kindEnter
	kindLeave
	kindStack
	kindExit
	kindTrylock
	kindTryrdlock
	kindTrywrlock
	kindSpinTrylock
	kindTimedlock
	kindTimedrdlock
	kindTimedwrlock
	kindSignal
	kindBroadcast
	kindSemInit
	kindSemWait
	kindSemTrywait
	kindSemTimedwait
	kindSemPost
	kindMap
	kindUnmap
	kindCreated
	kinds
)

// operations are the operations of a trace that kinds of records stand for.
var operations = [kinds]trace.Op{
	kindRead: trace.OpRead, kindWrite: trace.OpWrite, kindReadRange: trace.OpReadRange, kindWriteRange: trace.OpWriteRange,
	kindAtomicLoad: trace.OpAtomicLoad, kindAtomicStore: trace.OpAtomicStore, kindAtomicRMW: trace.OpAtomicRmw, kindAtomicCAS: trace.OpAtomicCas, kindAtomicCASFailed: trace.OpAtomicCas,
	kindStart: trace.OpThreadStart, kindEnd: trace.OpThreadEnd, kindCreate: trace.OpThreadCreate, kindJoin: trace.OpThreadJoin,
	kindLock: trace.OpMutexLock, kindUnlock: trace.OpMutexUnlock,
	kindRdlock: trace.OpRwlockRdlock, kindWrlock: trace.OpRwlockWrlock, kindRwunlock: trace.OpRwlockUnlock,
	kindSpinLock: trace.OpSpinLock, kindSpinUnlock: trace.OpSpinUnlock, kindCondWait: trace.OpCondWait, kindCondWake: trace.OpCondWake,
	kindBarrierInit: trace.OpBarrierInit, kindBarrierWait: trace.OpBarrierWait, kindBarrierLeave: trace.OpBarrierLeave,
	kindOnceBegin: trace.OpOnceBegin, kindOnceEnd: trace.OpOnceEnd, kindMalloc: trace.OpMalloc, kindFree: trace.OpFree,
	kindExit: trace.OpProcessExit, kindTrylock: trace.OpMutexTrylock, kindTryrdlock: trace.OpRwlockTryrdlock, kindTrywrlock: trace.OpRwlockTrywrlock,
	kindSpinTrylock: trace.OpSpinTrylock, kindTimedlock: trace.OpMutexTimedlock, kindTimedrdlock: trace.OpRwlockTimedrdlock, kindTimedwrlock: trace.OpRwlockTimedwrlock,
	kindSignal: trace.OpCondSignal, kindBroadcast: trace.OpCondBroadcast,
	kindSemInit: trace.OpSemInit, kindSemWait: trace.OpSemWait, kindSemTrywait: trace.OpSemTrywait, kindSemTimedwait: trace.OpSemTimedwait, kindSemPost: trace.OpSemPost,
}

// event is a record with its thread.
type event struct {
	record
	thread int
}

// recording merges the threads' records by time into a trace. Times are those of the processor's time
// stamp counter, which is one for all cores.
func (p *Program) recording(dir string, h *head) (*trace.Trace, []uint64, error) {
	t := &trace.Trace{Header: trace.Header{Target: "c", Command: p.cfg.Args, Dir: p.cfg.Dir, Instrumented: true, Live: true, Strategy: "live"}, Modules: p.cfg.Modules}
	var events []event
	for i := range int(h.Threads) {
		t.Threads = append(t.Threads, trace.Thread{ID: trace.ThreadID(i), Parent: -1, Name: uint64(i) + 1})
		own, err := readThread(dir, i)
		if err != nil {
			return nil, nil, err
		}
		events = append(events, own...)
	}
	slices.SortStableFunc(events, func(a, b event) int {
		switch {
		case a.time < b.time:
			return -1
		case a.time > b.time:
			return 1
		}
		return 0
	})
	spans := p.spans(h)
	var values *valued
	if h.Values != 0 {
		values = newValued(t, events, h, spans)
	}
	children := make([]int, len(t.Threads))
	stacks := stacks{&p.stacks, make([]calls, len(t.Threads))}
	sizes := map[uint64]uint64{}
	var times []uint64
	for i := range events {
		e := &events[i]
		switch e.kind {
		case kindEnter:
			stacks.enter(e.thread, siteOf(e.place), e.object)
			continue
		case kindLeave:
			stacks.leave(e.thread)
			continue
		}
		if values != nil && values.only(e) {
			if values.ended(e, i) {
				times = append(times, e.time)
			}
			continue
		}
		if th := &t.Threads[e.thread]; e.thread > 0 && th.Parent < 0 {
			// pthread_create did not create it: main counts as its parent.
			children[0]++
			th.Parent, th.Nth = 0, children[0]
			t.Events = append(t.Events,
				trace.Event{Op: trace.OpThreadCreate, Value: uint64(e.thread), Flags: trace.FlagNoDecision},
				trace.Event{Thread: trace.ThreadID(e.thread), Op: trace.OpThreadStart, Flags: trace.FlagNoDecision})
			times = append(times, e.time, e.time)
		}
		x := trace.Event{Thread: trace.ThreadID(e.thread), Op: operations[e.kind], Site: siteOf(e.place), Object: objectOf(e.object, spans), Size: e.size, Stack: stacks.of(e.thread), Flags: trace.FlagNoDecision}
		switch e.kind {
		case kindCreate:
			child := int(e.value)
			if child >= len(t.Threads) {
				continue
			}
			children[e.thread]++
			t.Threads[child].Parent, t.Threads[child].Nth = trace.ThreadID(e.thread), children[e.thread]
			x.Value = e.value
		case kindJoin:
			if e.value >= uint64(len(t.Threads)) {
				continue
			}
			x.Value = e.value
		case kindEnd:
			t.Threads[e.thread].Ended = true
		case kindCondWait, kindCondWake:
			x.Aux = uint64(objectOf(e.value, spans))
		case kindBarrierInit, kindOnceBegin:
			x.Value = e.value
		case kindAtomicCAS:
			x.Result = 1
		case kindMalloc:
			x.SetBytes(e.value)
			sizes[e.object] = e.value
		case kindFree:
			x.SetBytes(sizes[e.object])
			delete(sizes, e.object)
		}
		if values != nil {
			values.complete(e, &x)
		}
		t.Events = append(t.Events, x)
		times = append(times, e.time)
		if values != nil && values.ended(e, i) {
			times = append(times, e.time)
		}
	}
	t.Stacks = p.stacks.list()
	return t, times, nil
}

// readThread reads the records of a thread.
func readThread(dir string, thread int) (out []event, err error) {
	for n := 0; ; n++ {
		b, err := os.ReadFile(filepath.Join(dir, strconv.Itoa(thread)+"."+strconv.Itoa(n)))
		if os.IsNotExist(err) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("a recording cannot be read: %w", err)
		}
		for ; len(b) >= recordSize; b = b[recordSize:] {
			u := binary.LittleEndian.Uint64
			r := record{u(b), u(b[8:]), u(b[16:]), u(b[24:]), u(b[32:]), binary.LittleEndian.Uint32(b[40:]), binary.LittleEndian.Uint32(b[44:])}
			if r.kind == 0 || r.kind >= kinds {
				break
			}
			out = append(out, event{r, thread})
		}
	}
}

// span is where a module was loaded.
type span struct{ base, lo, hi uint64 }

func (p *Program) spans(h *head) []span {
	out := make([]span, len(p.cfg.Modules))
	for i := range p.cfg.Modules {
		path := p.cfg.Modules[i].Path
		if h.Table[i].Base == 0 && i > 0 || strings.HasPrefix(path, "[") {
			continue
		}
		s := span{base: h.Table[i].Base, lo: ^uint64(0)}
		elffile.Read(path, func(f *elf.File) {
			for _, seg := range f.Progs {
				if seg.Type == elf.PT_LOAD {
					s.lo, s.hi = min(s.lo, s.base+seg.Vaddr), max(s.hi, s.base+seg.Vaddr+seg.Memsz)
				}
			}
		})
		out[i] = s
	}
	return out
}

// objectOf names an address: in a module, or else absolutely.
func objectOf(address uint64, spans []span) trace.Object {
	if address == 0 {
		return 0
	}
	for i, s := range spans {
		if address-s.lo < s.hi-s.lo && s.hi > s.lo {
			return trace.MakeObject(trace.RegionGlobal, i, address-s.base)
		}
	}
	const bits = 46
	return trace.MakeObject(trace.RegionOther, int(address>>bits), address&(1<<bits-1))
}
