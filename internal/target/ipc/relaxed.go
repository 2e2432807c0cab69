package ipc

import (
	"sync/atomic"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// relaxed follows the runtime's table of atomics whose weaker behaviours are not executed.
type relaxed struct {
	proc  *Process // that was read last
	count uint32   // of entries and flags read from it
	all   []schedule.Relaxed
	cut   bool
}

// read returns the atomics of the process so far. Its slice is not changed later.
func (x *relaxed) read(prog Program, proc *Process) ([]schedule.Relaxed, bool) {
	shm := proc.shm
	if x.proc != proc {
		*x = relaxed{proc: proc}
	}
	n := atomic.LoadUint32(&shm.Nrelaxed)
	x.cut = x.cut || atomic.LoadUint32(&shm.RelaxedFull) != 0
	if n == x.count {
		return x.all, x.cut
	}
	x.count, x.all = n, nil
	for i := range shm.Relaxed {
		e := &shm.Relaxed[i]
		pc, flags := atomic.LoadUint64(&e.Pc), atomic.LoadUint64(&e.Flags)
		if pc == 0 {
			continue
		}
		r := schedule.Relaxed{Site: prog.Site(pc), Order: flags&abi.RelaxedOrder != 0, Weak: flags&abi.RelaxedWeak != 0}
		for _, call := range e.Calls {
			if call == 0 {
				break
			}
			r.Calls = append(r.Calls, trace.Site(prog.Site(call)))
		}
		x.all = append(x.all, r)
	}
	return x.all, x.cut
}
