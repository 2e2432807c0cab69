package handmade

import "strings"

// lock is a way to exclude others. Its text declares acquireX(me), releaseX(me) and prepareX(), in which
// $ stands for X. With the bug "not atomic", two threads may hold it.
type lockKind struct {
	name string
	most int // threads that may use it, main included
	// large reports that a thread which takes it again and again makes too many states, or infinitely many.
	large bool
	text  func(g *gen, broken bool) string
}

// loose returns a compare-and-swap, or a test and a set that others may come between.
func loose(broken bool, variable, old, value string) string {
	if !broken {
		return "cas(" + variable + ", " + old + ", " + value + ")"
	}
	return "grab$()"
}

var lockKinds = []lockKind{
	{"test-and-set", 8, false, func(g *gen, broken bool) string {
		test := loose(broken, "held$", "0", "1")
		if !broken && g.IntN(2) == 0 {
			test = "xchg(held$, 1) == 0"
		}
		return `atom held$; void prepare$() { }
		int grab$() { if (load(held$)) return 0; store(held$, 1); return 1; }
		void acquire$(int me) { ` + g.until(test) + ` }
		void release$(int me) { store(held$, 0); }`
	}},
	{"test-and-test-and-set", 8, false, func(g *gen, broken bool) string {
		return `atom held$; void prepare$() { }
		int grab$() { if (load(held$)) return 0; store(held$, 1); return 1; }
		void acquire$(int me) { for (;;) { ` + g.until("load(held$) == 0") + ` if (` + loose(broken, "held$", "0", "1") + `) return; } }
		void release$(int me) { store(held$, 0); }`
	}},
	{"ticket lock", 8, true, func(g *gen, broken bool) string {
		take := "int mine = add(next$, 1);"
		if broken {
			take = "int mine = load(next$); store(next$, mine + 1);"
		}
		return `atom next$; atom serving$; void prepare$() { }
		void acquire$(int me) { ` + take + g.until("load(serving$) == mine") + ` }
		void release$(int me) { ` + g.pick("add(serving$, 1);", "store(serving$, load(serving$) + 1);") + ` }`
	}},
	{"MCS lock", 8, true, func(g *gen, broken bool) string {
		return `atom tail$; atom linked$[8]; atom waits$[8]; void prepare$() { }
		int swap$(int v) { ` + map[bool]string{false: "return xchg(tail$, v);", true: "int old = load(tail$); store(tail$, v); return old;"}[broken] + ` }
		void acquire$(int me) {
			store(linked$[me], 0); store(waits$[me], 1);
			int before = swap$(me + 1);
			if (before) { store(linked$[before - 1], me + 1); ` + g.until("load(waits$[me]) == 0") + ` }
		}
		void release$(int me) {
			if (load(linked$[me]) == 0) { if (cas(tail$, me + 1, 0)) return; ` + g.until("load(linked$[me])") + ` }
			store(waits$[load(linked$[me]) - 1], 0);
		}`
	}},
	{"CLH lock", 8, true, func(g *gen, broken bool) string {
		return `atom last$ = 8; atom busy$[9]; plain mine$[8]; plain before$[8];
		void prepare$() { for (int i = 0; i < 8; i++) mine$[i] = i; }
		int swap$(int v) { ` + map[bool]string{false: "return xchg(last$, v);", true: "int old = load(last$); store(last$, v); return old;"}[broken] + ` }
		void acquire$(int me) {
			int n = mine$[me]; store(busy$[n], 1);
			int b = swap$(n); before$[me] = b; ` + g.until("load(busy$[b]) == 0") + `
		}
		void release$(int me) { int n = mine$[me]; mine$[me] = before$[me]; store(busy$[n], 0); }`
	}},
	{"Peterson's lock", 2, false, func(g *gen, broken bool) string {
		first, second := "store(want$[me], 1);", "store(turn$, 1 - me);"
		if broken {
			first, second = second, first
		}
		return `atom want$[2]; atom turn$; void prepare$() { }
		void acquire$(int me) { ` + first + second + g.until("load(want$[1 - me]) == 0 || load(turn$) == me") + ` }
		void release$(int me) { store(want$[me], 0); }`
	}},
	{"Dekker's lock", 2, false, func(g *gen, broken bool) string {
		want := "store(want$[me], 1);"
		late := ""
		if broken {
			want, late = "", "store(want$[me], 1);"
		}
		return `atom want$[2]; atom turn$; void prepare$() { }
		void acquire$(int me) {
			` + want + `
			while (load(want$[1 - me])) {
				if (load(turn$) != me) { store(want$[me], 0); ` + g.until("load(turn$) == me") + ` store(want$[me], 1); }
			}
			` + late + `
		}
		void release$(int me) { store(turn$, 1 - me); store(want$[me], 0); }`
	}},
	{"bakery", 4, true, func(g *gen, broken bool) string {
		choose, chosen := "store(choosing$[me], 1);", "store(choosing$[me], 0);"
		if broken {
			choose, chosen = "", ""
		}
		return `atom choosing$[4]; atom number$[4]; void prepare$() { }
		int first$(int me, int i, int mine) { int other = load(number$[i]); return other == 0 || other > mine || other == mine && i >= me; }
		void acquire$(int me) {
			` + choose + `
			int mine = 1;
			for (int i = 0; i < 4; i++) { int v = load(number$[i]); if (v >= mine) mine = v + 1; }
			store(number$[me], mine);
			` + chosen + `
			for (int i = 0; i < 4; i++) { ` + g.until("load(choosing$[i]) == 0") + g.until("first$(me, i, mine)") + ` }
		}
		void release$(int me) { store(number$[me], 0); }`
	}},
	{"array lock", 8, true, func(g *gen, broken bool) string {
		take := "int s = add(place$, 1) % 8;"
		if broken {
			take = "int s = load(place$); store(place$, s + 1); s = s % 8;"
		}
		return `atom place$; atom may$[8]; plain slot$[8]; void prepare$() { store(may$[0], 1); }
		void acquire$(int me) { ` + take + ` slot$[me] = s; ` + g.until("load(may$[s])") + ` store(may$[s], 0); }
		void release$(int me) { store(may$[(slot$[me] + 1) % 8], 1); }`
	}},
	{"futex mutex", 8, false, func(g *gen, broken bool) string {
		return `atom word$; void prepare$() { }
		int grab$() { if (load(word$)) return 0; store(word$, 1); return 1; }
		void acquire$(int me) { if (` + loose(broken, "word$", "0", "1") + `) return; while (xchg(word$, 2)) sleep_while(word$, 2); }
		void release$(int me) { if (xchg(word$, 0) == 2) wake(word$, 1); }`
	}},
	{"mutex, tried", 8, false, func(g *gen, broken bool) string {
		if broken {
			return `mutex m$; void prepare$() { }
			void acquire$(int me) { int tries = 0; while (!trylock(m$)) { yield(); tries++; if (tries == 3) return; } unlock(m$); }
			void release$(int me) { }`
		}
		return `mutex m$; void prepare$() { }
		void acquire$(int me) { ` + g.until("trylock(m$)") + ` }
		void release$(int me) { unlock(m$); }`
	}},
	{"gate with a latch", 8, false, func(g *gen, broken bool) string {
		latch, grab, drop := g.latch()
		inside := g.inside()
		check := grab + " if (!load(shut$)) { store(shut$, 1); " + drop + " return; } " + inside + drop
		if broken {
			check = grab + " int closed = load(shut$); " + drop + " if (!closed) { store(shut$, 1); return; }"
		}
		loop := g.forever(check)
		if g.IntN(2) == 0 {
			loop = "for (;;) { " + check + " }"
			g.starves = true
		}
		return latch + `atom shut$; void prepare$() { }
		void acquire$(int me) { ` + loop + ` }
		void release$(int me) { ` + grab + ` store(shut$, 0); ` + drop + ` }`
	}},
	{"semaphore of a mutex", 8, false, func(g *gen, broken bool) string {
		inside := g.inside()
		check := "lock(m$); if (count$ > 0) { count$ = count$ - 1; unlock(m$); return; } " + inside + " unlock(m$);"
		if broken {
			check = "lock(m$); int c = count$; unlock(m$); if (c > 0) { lock(m$); count$ = c - 1; unlock(m$); return; }"
		}
		return `mutex m$; plain count$ = 1; void prepare$() { }
		void acquire$(int me) { ` + g.forever(check) + ` }
		void release$(int me) { lock(m$); count$ = count$ + 1; unlock(m$); }`
	}},
	{"semaphore of a mutex and a condition variable", 8, false, func(g *gen, broken bool) string {
		test := "while"
		if broken {
			test = "if"
		}
		return `mutex m$; cond c$; plain count$ = 1; void prepare$() { }
		void acquire$(int me) { lock(m$); ` + test + ` (count$ == 0) wait(c$, m$); count$ = ` + map[bool]string{true: "0", false: "count$ - 1"}[broken] + `; unlock(m$); }
		void release$(int me) { lock(m$); ` + map[bool]string{true: "count$ = 1;", false: "count$ = count$ + 1;"}[broken] + g.pick(" signal(c$); unlock(m$);", " unlock(m$); signal(c$);", " broadcast(c$); unlock(m$);") + ` }`
	}},
}

// latch returns the declarations of a small lock, and how to hold it for a moment.
func (g *gen) latch() (text, grab, drop string) {
	switch g.IntN(3) {
	case 0:
		return "mutex latch$; ", " lock(latch$); ", " unlock(latch$); "
	case 1:
		return "atom latch$; void take$() { while (!cas(latch$, 0, 1)) { } } ", " take$(); ", " store(latch$, 0); "
	}
	return "atom latch$; void take$() { " + g.until("xchg(latch$, 1) == 0") + " } ", " take$(); ", " store(latch$, 0); "
}

// inside returns what a thread does that finds a gate shut, before it lets go of the latch.
func (g *gen) inside() string {
	s := g.pick("", "", "yield();", "nap();", "pause();")
	g.starves = g.starves || s != ""
	return s
}

// named gives a lock's text its name.
func named(text, name string) string { return strings.ReplaceAll(text, "$", name) }
