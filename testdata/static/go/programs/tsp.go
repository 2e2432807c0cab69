package programs

// TSP finds the shortest tour through some cities by branch and bound: four workers take
// beginnings of tours from a common stack, and share the length of the best tour so far.
func TSP(main *Thread) {
	const cities, workers = 8, 4
	dist := make([][]*Var, cities)
	for i := range dist {
		dist[i] = main.NewVars(cities)
		for j := range dist[i] {
			dist[i][j].Set(main, int64((i*7+j*13)%29+(j*7+i*13)%29)+1)
		}
	}
	best := main.NewVar(1 << 30)
	bestLock := main.NewMutex()
	stackLock := main.NewMutex()
	depth := main.NewVar(0) // of the stack
	var stack [][]int       // guarded by stackLock, as depth is
	for second := 1; second < cities; second++ {
		stack = append(stack, []int{0, second})
	}
	depth.Set(main, int64(len(stack)))

	var search func(t *Thread, tour []int, length int64)
	search = func(t *Thread, tour []int, length int64) {
		if length >= best.Get(t) { // not guarded: a bound that is too old costs only time
			return
		}
		here := tour[len(tour)-1]
		if len(tour) == cities {
			length += dist[here][0].Get(t)
			bestLock.Lock(t)
			if length < best.Get(t) {
				best.Set(t, length)
			}
			bestLock.Unlock(t)
			return
		}
	next:
		for c := range cities {
			for _, v := range tour {
				if v == c {
					continue next
				}
			}
			search(t, append(tour[:len(tour):len(tour)], c), length+dist[here][c].Get(t))
		}
	}
	var threads []*Thread
	for range workers {
		threads = append(threads, main.Go(func(t *Thread) {
			for {
				stackLock.Lock(t)
				n := depth.Get(t)
				if n == 0 {
					stackLock.Unlock(t)
					return
				}
				tour := stack[n-1]
				depth.Set(t, n-1)
				stackLock.Unlock(t)
				search(t, tour, dist[tour[0]][tour[1]].Get(t))
			}
		}))
	}
	for _, t := range threads {
		main.Join(t)
	}
	if best.Get(main) == 1<<30 {
		panic("no tour")
	}
}
