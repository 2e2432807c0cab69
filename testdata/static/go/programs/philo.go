package programs

// Philosophers: five of them and main. Each takes the fork on the left and then the one on
// the right, but for the last, who does it the other way round, so that they do not wait
// for each other forever.
func Philosophers(main *Thread) {
	const philosophers, meals = 5, 3
	forks := make([]*Mutex, philosophers)
	uses := main.NewVars(philosophers) // how often each fork was used, guarded by it
	for i := range forks {
		forks[i] = main.NewMutex()
	}
	const thinking, hungry, eating = 0, 1, 2
	state := main.NewVars(philosophers) // what each is doing
	eaten := main.NewVars(philosophers)
	var threads []*Thread
	for p := range philosophers {
		threads = append(threads, main.Go(func(t *Thread) {
			first, second := p, (p+1)%philosophers
			if p == philosophers-1 {
				first, second = second, first
			}
			for range meals {
				state[p].Set(t, thinking)
				for range 4 { // a thought
					eaten[p].Get(t)
				}
				state[p].Set(t, hungry)
				forks[first].Lock(t)
				forks[second].Lock(t)
				state[p].Set(t, eating)
				uses[first].Set(t, uses[first].Get(t)+1)
				uses[second].Set(t, uses[second].Get(t)+1)
				eaten[p].Set(t, eaten[p].Get(t)+1)
				forks[second].Unlock(t)
				forks[first].Unlock(t)
			}
		}))
	}
	for _, t := range threads {
		main.Join(t)
	}
	total := int64(0)
	for _, v := range eaten {
		total += v.Get(main)
	}
	if total != philosophers*meals {
		panic("a philosopher has not eaten")
	}
}
