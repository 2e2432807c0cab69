// Package ipctest is the program's side of the wire in Go: what a test needs to stand in
// for a runtime.
package ipctest

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/target/ipc"
)

// Program is a program under heddle, as it sees itself.
type Program struct {
	Shm     *abi.Shm
	plans   ipc.Ring
	results ipc.Ring
}

// Plan is one that the controller asks for.
type Plan struct {
	abi.Plan
	Steps  []abi.Step
	Names  []uint64 // of the threads that steps speak of
	Points []uint64 // if SetPoints
	Holds  []abi.Hold
}

// Open maps the memory that the controller passed, and reports that the runtime is
// there. It ends the process where there is no such memory.
func Open() *Program {
	var st unix.Stat_t
	if err := unix.Fstat(abi.ShmFd, &st); err != nil {
		fail("there is no shared memory: %v", err)
	}
	mem, err := unix.Mmap(abi.ShmFd, 0, int(st.Size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		fail("cannot map the shared memory: %v", err)
	}
	p := &Program{}
	p.Shm, p.plans, p.results = ipc.View(mem)
	if s := p.Shm; s.Magic != abi.Magic || s.Abi != abi.AbiVersion || s.Total != uint64(st.Size) || s.SizePlan != abi.SizeofPlan {
		fail("this is not heddle's shared memory: %#x %d", s.Magic, s.Abi)
	}
	p.Shm.Points = abi.PointsVersion
	p.State(abi.StateLoaded, "")
	return p
}

func fail(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(125)
}

// State reports the program's state to the controller; message is the reason of a failure.
func (p *Program) State(state uint32, message string) {
	copy(p.Shm.Message[:len(p.Shm.Message)-1], message)
	atomic.StoreUint32(&p.Shm.State, state)
}

// Next waits for a plan.
func (p *Program) Next() Plan {
	for {
		if _, b, ok := p.plans.Next(); ok {
			plan := Plan{Plan: *(*abi.Plan)(unsafe.Pointer(&b[0]))}
			b = b[abi.SizeofPlan:]
			plan.Steps, b = take[abi.Step](b, int(plan.Nsteps))
			plan.Names, b = take[uint64](b, int(plan.Nthreads))
			plan.Points, b = take[uint64](b, int(plan.Npoints))
			plan.Holds, _ = take[abi.Hold](b, int(plan.Nholds))
			p.plans.Release()
			return plan
		}
		p.plans.Wait(100 * time.Millisecond)
	}
}

func take[T any](b []byte, n int) ([]T, []byte) {
	if n == 0 {
		return nil, b
	}
	list := append([]T(nil), unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)...)
	return list, b[n*int(unsafe.Sizeof(list[0])):]
}

// Send sends a record whose payload is value, or the values of a list one after the other,
// or a text and a zero byte.
func Send[T any](p *Program, kind uint32, values ...T) {
	var b []byte
	for i := range values {
		if s, ok := any(values[i]).(string); ok {
			b = append(append(b, s...), 0)
			continue
		}
		b = append(b, unsafe.Slice((*byte)(unsafe.Pointer(&values[i])), unsafe.Sizeof(values[i]))...)
	}
	for !p.results.Put(kind, b) {
		time.Sleep(time.Millisecond)
	}
}

// Beat is a sign of life.
func (p *Program) Beat() { atomic.AddUint64(&p.Shm.Heartbeat, 1) }
