package ipc

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// sentPoints are the scheduling points last sent to a process.
type sentPoints struct {
	any    bool
	points []trace.Site
}

// size returns at most how many bytes the record of a plan takes.
func size(p *schedule.Plan) int {
	return abi.SizeofPlan + len(p.Script)*abi.SizeofStep + 8*(len(p.Threads)+len(p.Points)+3*len(p.Holds)+len(p.Weights)+len(p.Interesting)+len(p.Sharing)) + len(p.Holds)*abi.SizeofHold
}

// long reports whether a plan is too long for the plan ring.
func long(p *schedule.Plan) bool { return size(p) > planRingSize/2 }

// encode encodes executions first to first+repeat of a plan as a record of the plan ring. It omits
// the points if sent says that the process has them from the plan before. The record of a long plan is
// written into room.
func encode(prog Program, id uint64, p *schedule.Plan, first, repeat int, memory int64, sent *sentPoints, room []byte) ([]byte, error) {
	h := abi.Plan{
		Id: id, Seed: p.Seed + uint64(first), Repeat: uint32(repeat),
		Policy: uint32(p.Policy), ScriptMode: uint32(p.Mode),
		Nsteps: uint32(len(p.Script)), Nthreads: uint32(len(p.Threads)),
		MaxSteps: abi.MaxSteps, Turns: uint32(p.Turns.Visits), TurnsFrom: uint32(p.Turns.From), TurnsAfter: uint32(p.Turns.After), FairAfter: uint32(p.FairAfter), FairSeed: p.FairSeed, ExpectStatus: p.ExpectStatus,
	}
	switch p.Delays {
	case schedule.ShortDelays:
		h.Slack = uint64(schedule.Slack)
	case schedule.BriefDelays:
		h.Slack = uint64(schedule.Brief)
	case schedule.AnyDelays:
		h.Slack = math.MaxUint64
	}
	if p.MaxSteps > 0 {
		h.MaxSteps = uint32(p.MaxSteps)
	}
	h.Param0, h.Param1 = p.Parameters()
	if p.Record {
		h.Flags |= abi.PlanEvents | abi.PlanStacks | abi.PlanOutput
	}
	if p.Output {
		h.Flags |= abi.PlanOutput
	}
	if p.Accesses || p.Watcher != nil {
		h.Flags |= abi.PlanAccesses
		h.SkipAccesses = uint64(p.SkipAccesses)
		h.MaxAccesses = max(maxAccesses(p, memory))
	}
	if p.Values {
		h.Flags |= abi.PlanValues
	}
	if p.OnlyShared && h.Flags&abi.PlanAccesses != 0 {
		h.Flags |= abi.PlanShared
		h.Nshared = uint32(len(p.Sharing))
		if p.Known {
			h.Flags |= abi.PlanKnown
		}
	}
	if p.States && p.Watcher != nil {
		h.Flags |= abi.PlanStates
		h.WordsFrom = uint32(p.WordsFrom)
	}
	if p.Functions {
		h.Flags |= abi.PlanFunctions
	}
	if f := p.Fault; f != nil {
		h.Fault, h.FaultThread, h.FaultSite, h.FaultIndex, h.FaultAmount = uint32(f.Model), f.Thread, prog.PC(f.Site), f.Index, f.Amount
	}
	if p.Watch {
		h.Flags |= abi.PlanWatch
		h.WatchBudget = watchBudget(memory)
		if p.Visits {
			prog.MarkVisited()
			h.Flags |= abi.PlanVisits
		}
	}
	if p.Stop {
		h.Flags |= abi.PlanStop
	}
	if p.Timeouts {
		h.Flags |= abi.PlanTimeouts
	}
	if p.Haste {
		h.Flags |= abi.PlanHaste
	}
	if p.Cut {
		h.Flags |= abi.PlanCut
	}
	if p.Cycles {
		h.Flags |= abi.PlanCycles
	}
	if p.Spurious {
		h.Flags |= abi.PlanSpurious
	}
	if err := p.CheckHolds(); err != nil {
		return nil, err
	}
	h.Nholds = uint32(len(p.Holds))
	if err := p.CheckWeights(); err != nil {
		return nil, err
	}
	h.Nweights, h.Ninteresting = uint32(len(p.Weights)), uint32(len(p.Interesting))
	points := p.Sites()
	setPoints := !sent.any || !slices.Equal(sent.points, points)
	if setPoints {
		h.SetPoints = 1
		h.Npoints = uint32(len(points))
	}
	if n := size(p); room == nil {
		room = make([]byte, 0, n)
	} else if n > len(room) {
		return nil, fmt.Errorf("a schedule of %d steps is too long for heddle (limit %d)", len(p.Script), len(room)/abi.SizeofStep)
	}
	b := room[:0]
	b = append(b, unsafe.Slice((*byte)(unsafe.Pointer(&h)), abi.SizeofPlan)...)
	last := trace.ThreadID(-1)
	for i := range p.Script {
		s := &p.Script[i]
		if int(s.Thread) >= len(p.Threads) || s.Thread < 0 {
			return nil, fmt.Errorf("step %d of the schedule names thread %d, but it lists only %d threads", i, s.Thread, len(p.Threads))
		}
		st := abi.Step{Thread: uint32(s.Thread), Op: uint16(s.Op), Pc: uint32(prog.PC(s.Site))}
		switch {
		case s.Op == trace.OpSelect:
			st.Aux = uint32(s.Choice)
		case s.Wake >= 0:
			st.Aux = uint32(s.Wake) + 1
		}
		if s.Thread != last {
			st.Flags |= abi.StepTei
		}
		if s.Timeout {
			st.Flags |= abi.StepTimeout
		}
		last = s.Thread
		b = append(b, unsafe.Slice((*byte)(unsafe.Pointer(&st)), abi.SizeofStep)...)
	}
	for i := range p.Threads {
		b = binary.NativeEndian.AppendUint64(b, p.Threads[i].Name)
	}
	if setPoints {
		for _, s := range points {
			b = binary.NativeEndian.AppendUint64(b, prog.PC(s))
		}
	}
	for i := range p.Holds {
		w := holdOf(prog, &p.Holds[i])
		b = append(b, unsafe.Slice((*byte)(unsafe.Pointer(&w)), abi.SizeofHold)...)
	}
	for _, w := range p.Weights {
		b = binary.NativeEndian.AppendUint64(b, uint64(w))
	}
	b = appendInstructions(b, prog, p.Interesting)
	if h.Nshared > 0 {
		b = appendInstructions(b, prog, p.Sharing)
	}
	return b, nil
}

// appendInstructions appends a list that the runtime searches.
func appendInstructions(b []byte, prog Program, sites []trace.Site) []byte {
	list := make([]uint64, len(sites))
	for i, s := range sites {
		list[i] = prog.PC(s)
	}
	slices.Sort(list)
	for _, pc := range list {
		b = binary.NativeEndian.AppendUint64(b, pc)
	}
	return b
}

// holdOf returns a hold as the runtime reads it.
func holdOf(prog Program, h *schedule.Hold) abi.Hold {
	w := abi.Hold{Site: prog.PC(h.Site), Thread: uint32(h.Thread), Arrival: uint32(h.Arrival), Steps: uint32(h.Steps)}
	if h.Until != 0 {
		w.Until = prog.PC(h.Until)
	}
	if h.Last != 0 {
		w.Last = prog.PC(h.Last)
	}
	if h.Same {
		w.Flags |= abi.HoldSame
	}
	switch h.When {
	case schedule.Ever:
		w.Flags |= abi.HoldEver
	case schedule.Reached:
		w.Flags |= abi.HoldReached
	}
	if h.Not {
		w.Flags |= abi.HoldNot
	}
	if h.Time {
		w.Flags |= abi.HoldTime
	}
	return w
}
