package static

import "github.com/heddle-dev/heddle/internal/analysis/depend"

// together returns, for each pair of threads, a lower bound on the intervals that both together
// need: exact for as many pairs as tables of a small multiple of cells permit.
func (s *search) together(cells int) [][]int {
	n := len(s.c.of)
	out := make([][]int, n)
	for t := range out {
		out[t] = make([]int, n)
	}
	work := 0
	for t := range n {
		for u := range t {
			sum := int(s.alone[t][0] + s.alone[u][0])
			if c := s.c.cells([]int{u, t}, cells/8); c > 0 && work+c <= 4*cells {
				work += c
				sum = max(sum, int(s.c.tabulate([]int{u, t}, c).fewest[0]))
			}
			out[t][u], out[u][t] = sum, sum
		}
	}
	return out
}

// cover bounds the intervals of all threads together, given those of each pair: the smallest sum of
// x(t), each at least what the thread needs alone, with x(t)+x(u) at least what t and u need
// together. The linear relaxation has the same value as its dual, which is half the heaviest
// assignment of threads to threads by what pairs need beyond their sums (Nemhauser and Trotter
// 1975, for vertex cover).
func (s *search) cover(pairs [][]int) int {
	n := len(pairs)
	sum := 0
	for t := range n {
		sum += int(s.alone[t][0])
	}
	if n > 512 {
		return sum
	}
	weight := make([][]int, n)
	for t := range weight {
		weight[t] = make([]int, n)
		for u := range n {
			if u != t {
				weight[t][u] = max(0, pairs[t][u]-int(s.alone[t][0]+s.alone[u][0]))
			}
		}
	}
	return sum + (heaviest(weight)+1)/2
}

// heaviest returns the weight of the heaviest assignment of rows to columns, by the Hungarian
// method with shortest augmenting paths (Jonker and Volgenant 1987).
func heaviest(weight [][]int) int {
	n := len(weight)
	const inf = 1 << 60
	row, col := make([]int, n+1), make([]int, n+1) // potentials, 1-based
	match := make([]int, n+1)                      // of each column, the row
	way := make([]int, n+1)
	for i := 1; i <= n; i++ {
		match[0] = i
		j := 0
		dist := make([]int, n+1)
		used := make([]bool, n+1)
		for k := range dist {
			dist[k] = inf
		}
		for match[j] != 0 {
			used[j] = true
			r, next, delta := match[j], 0, inf
			for k := 1; k <= n; k++ {
				if used[k] {
					continue
				}
				if d := -weight[r-1][k-1] - row[r] - col[k]; d < dist[k] {
					dist[k], way[k] = d, j
				}
				if dist[k] < delta {
					delta, next = dist[k], k
				}
			}
			for k := range used {
				if used[k] {
					row[match[k]] += delta
					col[k] -= delta
				} else {
					dist[k] -= delta
				}
			}
			j = next
		}
		for j != 0 {
			match[j] = match[way[j]]
			j = way[j]
		}
	}
	sum := 0
	for j := 1; j <= n; j++ {
		sum += weight[match[j]-1][j-1]
	}
	return sum
}

// window is how many clocks windowed keeps at a time.
const window = 1 << 22

// windowed bounds the intervals of a trace that is too large for more: for each thread, it counts
// cuts forced by paths through other threads, in one window of the trace after another. Forced cuts
// of different windows are different cuts.
func windowed(stop *Stop, g *depend.Graph) int {
	w := g.Threads()
	length := max(1, window/w)
	clocks := make([]int32, min(length, g.Len())*w)
	count := make([]int32, w)
	last := make([]int32, w)
	start := make([]int32, w) // of each thread, the number of the first node of its piece
	index := make([]int32, length)
	pieces := w
	for from := 0; from < g.Len(); from += length {
		for t := range last {
			last[t] = -1
			start[t] = 0
			count[t] = 0
		}
		for n := from; n < min(from+length, g.Len()); n++ {
			stop.Check()
			t := g.Thread[n]
			own := clocks[(n-from)*w : (n-from+1)*w]
			clear(own)
			if last[t] >= 0 {
				copy(own, clocks[int(last[t])*w:])
			}
			back := int32(0) // own nodes that have to come before this one by way of others
			for _, p := range g.Preds(int32(n)) {
				if int(p) < from {
					continue
				}
				other := clocks[(int(p)-from)*w : (int(p)-from+1)*w]
				back = max(back, other[t])
				for u, v := range other {
					own[u] = max(own[u], v)
				}
				u := g.Thread[p]
				own[u] = max(own[u], index[int(p)-from]+1)
			}
			if back > start[t] {
				pieces++
				start[t] = count[t]
			}
			index[n-from] = count[t]
			own[t] = count[t]
			count[t]++
			last[t] = int32(n - from)
		}
	}
	return pieces
}
