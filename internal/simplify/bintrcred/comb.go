package bintrcred

import "github.com/heddle-dev/heddle/internal/simplify/stmt"

// intervals returns the start of each TEI of an order, followed by the end of the last one.
func (r *reducer) intervals(order []int32) []int32 {
	var out []int32
	for i, u := range order {
		if i == 0 || r.t.Of[u] != r.t.Of[order[i-1]] {
			out = append(out, int32(i))
		}
	}
	return append(out, int32(len(order)))
}

// forward repeatedly divides the trace before its last TEI. In effect, it goes through the TEIs
// from the start and moves as much of each as possible up to the previous TEI of its thread.
func (r *reducer) forward() ([]int32, []stmt.Step) {
	ivs := r.intervals(r.order)
	block := make([]int32, len(r.order)) // the TEI of the result that each unit is in
	last := make([]int32, len(r.t.Threads))
	for th := range last {
		last[th] = -1
	}
	var size []int32
	var steps []stmt.Step
	for k := range len(ivs) - 1 {
		r.stop.Check()
		units := r.order[ivs[k]:ivs[k+1]]
		th := r.t.Of[units[0]]
		b := last[th]
		moved := 0
		for b >= 0 && moved < len(units) && upTo(block, r.g.Preds(units[moved]), b) {
			moved++
		}
		if moved > 0 && int(b) < len(size)-1 {
			steps = append(steps, stmt.Step{Rule: stmt.Split, Hi: int32(k) + 1, Unit: units[0], Count: int32(moved)})
		}
		for i, u := range units {
			if i == moved {
				b = int32(len(size))
				size = append(size, 0)
				last[th] = b
			}
			block[u] = b
			size[b]++
		}
	}
	at := int32(0)
	for b, n := range size {
		size[b] = at
		at += n
	}
	out := make([]int32, len(r.order))
	for _, u := range r.order {
		out[size[block[u]]] = u
		size[block[u]]++
	}
	return out, steps
}

// upTo reports whether all of the units are in TEIs up to b.
func upTo(block, units []int32, b int32) bool {
	for _, p := range units {
		if block[p] > b {
			return false
		}
	}
	return true
}

// backward is the mirror image of forward: from the end, it moves as much of each TEI as possible
// down to the next TEI of its thread.
func (r *reducer) backward() ([]int32, []stmt.Step) {
	ivs := r.intervals(r.order)
	block := make([]int32, len(r.order))
	last := make([]int32, len(r.t.Threads))
	for th := range last {
		last[th] = -1
	}
	var size []int32
	var steps []stmt.Step
	for k := len(ivs) - 2; k >= 0; k-- {
		r.stop.Check()
		units := r.order[ivs[k]:ivs[k+1]]
		th := r.t.Of[units[0]]
		b := last[th]
		moved := 0
		for b >= 0 && moved < len(units) && upTo(block, r.succs.Of(units[len(units)-1-moved]), b) {
			moved++
		}
		if moved > 0 && int(b) < len(size)-1 {
			steps = append(steps, stmt.Step{Rule: stmt.Split, Lo: int32(k), Hi: int32(len(ivs) - 1), Unit: units[len(units)-moved], Count: int32(moved), Down: true})
		}
		for i := range units {
			u := units[len(units)-1-i]
			if i == moved {
				b = int32(len(size))
				size = append(size, 0)
				last[th] = b
			}
			block[u] = b
			size[b]++
		}
	}
	at := int32(len(r.order))
	for b, n := range size {
		size[b] = at
		at -= n
	}
	out := make([]int32, len(r.order))
	for i := len(r.order) - 1; i >= 0; i-- {
		u := r.order[i]
		size[block[u]]--
		out[size[block[u]]] = u
	}
	return out, steps
}
