package experiment

import (
	"context"
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/hb"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

const (
	// fewAccesses is how many events accesses may add to the base: an execution with more is repeated without the quiet ones.
	fewAccesses = 250_000
	// busy is how often an instruction is executed before leaving it out is worth it.
	busy = 2_000
	// lateEvents is how many of the last accesses of a thread that fails, since its last operation on anything else, are kept whatever they
	// access: the failure may follow from one of these.
	lateEvents = 64
	// quietWords bounds the words of memory that are told apart. Instructions that access others count as shared.
	quietWords = 4 << 20
)

// Whole is Repeat with all accesses, values included. Where an execution makes very many of them, it leaves out those of busy instructions
// that access only memory which no schedule lets two threads access in another order: what a thread computes on its own.
func (x *Experiment) Whole(ctx context.Context, p schedule.Plan) (*Result, error) {
	r, err := x.Repeat(ctx, p, func(p schedule.Plan) schedule.Plan {
		p = Everything(p)
		p.MaxAccesses = fewAccesses
		return p
	})
	if err != nil || r.Trace == nil || r.Trace.Header.MaxAccesses == 0 {
		return r, err
	}
	q := newQuiet()
	seen := Everything(p)
	seen.Accesses, seen.MaxAccesses, seen.Watcher = false, 0, q
	o, err := x.once(ctx, x.setting.Run, seen)
	if err != nil {
		return nil, err
	}
	p.Omit = q.sites(o.Ending.Thread)
	return x.Repeat(ctx, p, Everything)
}

// quiet is a watcher that finds the instructions whose plain accesses are ordered in every schedule: by the creation and the end of
// threads, by barriers and by once (hb.Necessary).
type quiet struct {
	order  *hb.Engine
	words  map[uint64]word8
	known  map[trace.Site]uint32 // numbers of uses
	uses   []use
	groups [][]uint32           // sets of instructions, ascending
	joined map[[2]uint32]uint32 // a set and an instruction, and the set with that instruction
	last   map[trace.ThreadID][]uint32
	unseen bool
}

// use is what an instruction did.
type use struct {
	site   trace.Site
	count  int
	shared bool
}

// word8 is what is known of eight bytes of memory: the last write, the last read since then, whether several threads have read since then, and the
// set of instructions that have accessed it.
type word8 struct {
	write, read hb.Epoch
	group       uint32
	many        bool // reads by threads that are not ordered
	shared      bool
}

func newQuiet() *quiet { return new(quiet) }

// Begin implements schedule.Watcher.
func (q *quiet) Begin(int64) {
	*q = quiet{order: hb.Necessary(), words: map[uint64]word8{}, known: map[trace.Site]uint32{}, groups: [][]uint32{nil}, joined: map[[2]uint32]uint32{}, last: map[trace.ThreadID][]uint32{}}
}

// Unseen implements schedule.Watcher.
func (q *quiet) Unseen() { q.unseen = true }

// Event implements schedule.Watcher.
func (q *quiet) Event(ev *trace.Event) {
	q.order.Event(ev)
	switch {
	case ops.Does(ev.Op) == ops.Free, ops.Does(ev.Op) == ops.Allocate: // what the block was used for before does not matter
		size := min(ev.Bytes(), quietWords)
		for at := uint64(ev.Object) / 8; at <= (uint64(ev.Object)+size)/8 && len(q.words) > 0; at++ {
			if w, ok := q.words[at]; ok && !w.shared {
				delete(q.words, at)
			}
		}
		return
	case !ev.Op.IsAccess():
		if ev.Flags&trace.FlagNoDecision == 0 && ev.Op != trace.OpAbort {
			q.last[ev.Thread] = q.last[ev.Thread][:0]
		}
		return
	}
	id, ok := q.known[ev.Site]
	if !ok {
		id = uint32(len(q.uses))
		q.known[ev.Site] = id
		q.uses = append(q.uses, use{site: ev.Site})
	}
	u := &q.uses[id]
	u.count++
	late := append(q.last[ev.Thread], id)
	if len(late) > 2*lateEvents {
		late = append(late[:0], late[len(late)-lateEvents:]...)
	}
	q.last[ev.Thread] = late
	if ev.Op != trace.OpRead && ev.Op != trace.OpWrite || ev.Object == 0 || ev.Site == 0 {
		u.shared = true
	}
	if u.shared && ev.Size > quietWords {
		return
	}
	for at := uint64(ev.Object) / 8; at <= (uint64(ev.Object)+uint64(max(ev.Size, 1))-1)/8; at++ {
		q.access(at, ev, id)
	}
}

// access notes that an instruction accesses a word.
func (q *quiet) access(at uint64, ev *trace.Event, id uint32) {
	w, known := q.words[at]
	if !known && len(q.words) >= quietWords {
		q.uses[id].shared = true
		return
	}
	if w.shared {
		q.uses[id].shared = true
		return
	}
	now := w
	now.group = q.join(w.group, id)
	th := ev.Thread
	if ops.Changes(ev) {
		now.shared = !q.order.Before(w.write, th) || w.many || !q.order.Before(w.read, th)
		now.write, now.read, now.many = q.order.Epoch(th), 0, false
	} else {
		now.shared = !q.order.Before(w.write, th)
		now.many = w.many || !q.order.Before(w.read, th)
		now.read = q.order.Epoch(th)
	}
	if now.shared {
		for _, k := range q.groups[now.group] {
			q.uses[k].shared = true
		}
	}
	if now != w {
		q.words[at] = now
	}
}

// join returns the set that has an instruction besides those of another.
func (q *quiet) join(group, id uint32) uint32 {
	k := [2]uint32{group, id}
	if with, ok := q.joined[k]; ok {
		return with
	}
	list := q.groups[group]
	at, has := slices.BinarySearch(list, id)
	with := group
	if !has {
		list = slices.Insert(slices.Clone(list), at, id)
		if same := slices.IndexFunc(q.groups, func(g []uint32) bool { return slices.Equal(g, list) }); same >= 0 {
			with = uint32(same)
		} else {
			with = uint32(len(q.groups))
			q.groups = append(q.groups, list)
		}
	}
	q.joined[k] = with
	return with
}

// sites returns the busy instructions that are quiet, but for those of the last accesses of a thread.
func (q *quiet) sites(failed trace.ThreadID) (out []trace.Site) {
	if q.unseen {
		return nil
	}
	late := q.last[failed]
	late = late[max(0, len(late)-lateEvents):]
	for id, u := range q.uses {
		if u.count >= busy && !u.shared && !slices.Contains(late, uint32(id)) {
			out = append(out, u.site)
		}
	}
	slices.Sort(out)
	return out
}
