package programs

// MergeSort sorts an array in parallel: a thread for each part, down to a size, which with
// main makes 18 threads as in the paper (main starts one for the whole).
func MergeSort(main *Thread) {
	const n = 96
	array, spare := main.NewVars(n), main.NewVars(n)
	x := int64(12345)
	for _, v := range array {
		x = (x*1103515245 + 12345) % (1 << 31)
		v.Set(main, x%1000)
	}
	sorted := main.NewVar(0) // parts sorted, guarded by lock
	lock := main.NewMutex()
	var sort func(t *Thread, lo, hi, threads int)
	sort = func(t *Thread, lo, hi, threads int) {
		if hi-lo < 2 {
			return
		}
		mid := (lo + hi) / 2
		if threads > 1 {
			left := t.Go(func(t *Thread) { sort(t, lo, mid, threads/2) })
			right := t.Go(func(t *Thread) { sort(t, mid, hi, threads-threads/2) })
			t.Join(left)
			t.Join(right)
		} else {
			sort(t, lo, mid, 1)
			sort(t, mid, hi, 1)
		}
		i, j := lo, mid
		for k := lo; k < hi; k++ {
			if j == hi || i < mid && array[i].Get(t) <= array[j].Get(t) {
				spare[k].Set(t, array[i].Get(t))
				i++
			} else {
				spare[k].Set(t, array[j].Get(t))
				j++
			}
		}
		for k := lo; k < hi; k++ {
			array[k].Set(t, spare[k].Get(t))
		}
		if threads > 1 {
			lock.Lock(t)
			sorted.Set(t, sorted.Get(t)+1)
			lock.Unlock(t)
		}
	}
	whole := main.Go(func(t *Thread) { sort(t, 0, n, 9) })
	main.Join(whole)
	last := int64(-1)
	for _, v := range array {
		if x := v.Get(main); x < last {
			panic("the array is not sorted")
		} else {
			last = x
		}
	}
}
