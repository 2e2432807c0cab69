package handmade

// families are all kinds of program. A bug's name says what is wrong.
var families = append(lockFamilies(),
	family{"two locks", []string{"opposite orders", "tried and not let go"}, twoLocks, 2, 2, 3},
	family{"handshake", []string{"an answer cleared too late"}, handshake, 1, 2, 2},
	family{"turns", []string{"a turn passed on twice"}, turns, 0, 2, 3},
	family{"barrier", []string{"released before it is reset", "a lost decrement", "without a sense"}, barrier, 3, 2, 3},
	family{"latch that counts down", []string{"a lost decrement", "a wake-up before the count", "asleep on another value"}, countDown, 3, 2, 3},
	family{"event", []string{"a wake-up before the event", "asleep on another value"}, event, 2, 2, 3},
	family{"readers and writers", []string{"a writer that stays", "a reader leaves without the latch"}, readersWriters, 1, 2, 4},
	family{"counter of readers", []string{"a lost reader"}, readersWord, 0, 2, 4},
	family{"sequence lock", []string{"a write left half done", "two writers"}, sequenceLock, 1, 2, 3},
	family{"bounded buffer", []string{"a signal for the first only", "a signal without the mutex"}, boundedBuffer, 2, 3, 4},
	family{"ring", []string{"two producers", "published before it is written"}, ring, 1, 2, 2},
	family{"stack", []string{"without a tag"}, stack, 0, 2, 3},
	family{"list", []string{"an element inserted twice"}, list, 1, 2, 3},
	family{"queue", []string{"a lost link", "waits for an old tail"}, queue, 2, 2, 3},
	family{"made once", []string{"given up half way"}, once, 1, 2, 3},
	family{"hot potato", []string{"two hands", "a lost stop"}, potato, 2, 2, 3},
	family{"crossing", []string{"neither steps back"}, crossing, 1, 2, 2},
)

// lockFamilies are critical sections under each kind of lock, with different ways for main to wait.
func lockFamilies() (all []family) {
	for _, k := range lockKinds {
		all = append(all, family{k.name, []string{"a missed release", "a lost update of what main polls", "not atomic"}, func(g *gen, bug string) {
			g.emit(named(k.text(g, bug == "not atomic"), "A"))
			g.critical(bug, g.workers < k.most && !(g.small && k.large))
		}, 2, 2, min(k.most, 4)})
	}
	return all
}

// critical writes workers that count under lock A. With spare, main may use the lock, too.
func (g *gen) critical(bug string, spare bool) {
	g.emit(`atom done; atom mark;`)
	inside := "total = total + 1;"
	switch {
	case bug == "not atomic", g.IntN(3) == 0:
		g.emit(`atom total;`)
		inside = "store(total, load(total) + 1);"
	default:
		g.emit(`plain total;`)
	}
	if bug != "not atomic" && g.IntN(4) == 0 {
		inside += g.pick(" yield();", " nap();")
	}
	early, mark := "", ""
	if bug == "a missed release" {
		// The first worker leaves with the lock if the second has been here already.
		early, mark = "if (me == 0 && load(mark)) { add(done, 1); return; }", "if (me == 1) store(mark, 1);"
	}
	count := "add(done, 1);"
	if bug == "a lost update of what main polls" {
		count = "store(done, load(done) + 1);"
	}
	g.emit(`void worker(int me) { for (int i = 0; i < $R; i++) { acquireA(me); ` + inside + early + ` releaseA(me); ` + mark + ` } ` + count + ` }`)
	wait := ""
	how := g.IntN(6)
	if bug == "a lost update of what main polls" {
		how = 1 + g.IntN(2)
	}
	if bug != "" && how == 3 {
		how = 0
	}
	switch {
	case how == 1:
		wait = g.until("load(done) == $N")
	case how == 2: // each look takes a ticket and gives it back
		g.emit(`atom tickets; int look() { add(tickets, 1); int v = load(done); add(tickets, -1); return v; }`)
		wait = g.until("look() == $N")
	case how == 3: // with a deadline
		wait = "while (load(done) < $N && !late()) { " + g.pick("yield();", "nap();") + " }"
	case how == 4 && spare && bug == "":
		read := "total"
		if inside[0] == 's' {
			read = "load(total)"
		}
		wait = g.forever("acquireA($N); int v = " + read + "; releaseA($N); if (v == $N * $R) break;")
	}
	total := g.checkTotal(inside)
	if early != "" {
		total = ""
	}
	g.emit(`void body() { prepareA(); start(); ` + wait + ` finish(); ` + total + ` }`)
}

func (g *gen) checkTotal(inside string) string {
	if inside[0] == 's' {
		return "check(load(total) == $N * $R);"
	}
	return "check(total == $N * $R);"
}

// twoLocks has workers that need two locks at a time, as philosophers do.
func twoLocks(g *gen, bug string) {
	kind := g.IntN(3) // mutexes, spin locks, mutexes that are spun on
	take, drop, try := "lock(eating[$])", "unlock(eating[$])", "trylock(eating[$])"
	if kind > 0 {
		take = g.until("try($)")
		try, drop = "try($)", "put($)"
	}
	switch kind {
	case 0:
		g.emit(`mutex eating[4];`)
	case 1:
		g.emit(`atom eating[4]; int try(int i) { return cas(eating[i], 0, 1); } void put(int i) { store(eating[i], 0); }`)
	default:
		g.emit(`mutex eating[4]; int try(int i) { return trylock(eating[i]); } void put(int i) { unlock(eating[i]); }`)
	}
	at := func(text, i string) string { return named(text, i) + ";" }
	g.emit(`atom eaten;`)
	eat := "add(eaten, 1);" + at(drop, "b") + at(drop, "a")
	forks := "int a = me; int b = (me + 1) % $N;"
	switch {
	case bug == "opposite orders":
		g.emit(`void worker(int me) { for (int i = 0; i < $R; i++) { ` + forks + at(take, "a") + at(take, "b") + eat + ` } }`)
	case bug != "": // the first fork is kept while the second is waited for
		g.emit(`void worker(int me) { for (int i = 0; i < $R; i++) { ` + forks + at(take, "a") + g.until(named(try, "b")) + eat + ` } }`)
	case g.IntN(2) == 0: // in order
		g.emit(`void worker(int me) { for (int i = 0; i < $R; i++) { ` + forks + ` if (a > b) { int c = a; a = b; b = c; } ` + at(take, "a") + at(take, "b") + eat + ` } }`)
	default: // what was taken is let go if the rest is not there
		g.emit(`void worker(int me) { for (int i = 0; i < $R; i++) { ` + forks + g.forever(at(take, "a")+" if ("+named(try, "b")+") break; "+at(drop, "a")) + eat + ` } }`)
	}
	g.emit(`void body() { start(); finish(); check(load(eaten) == $N * $R); }`)
}

// handshake has a client and a server with a flag each.
func handshake(g *gen, bug string) {
	clear, after := "", "store(answer, 0);"
	if bug != "" {
		clear, after = "store(answer, 0);", ""
	}
	g.emit(`atom request; atom answer; plain data; plain sum;`)
	g.emit(`void ask(int i) { data = i + 1; store(request, 1); ` + clear + g.until("load(answer)") + after + ` }`)
	g.emit(`void serve() { ` + g.until("load(request)") + ` sum = sum + data; store(request, 0); store(answer, 1); }`)
	g.emit(`void worker(int me) { for (int i = 0; i < $R; i++) { if (me == 0) ask(i); else serve(); } }`)
	g.emit(`void body() { start(); finish(); check(sum == $R * ($R + 1) / 2); }`)
}

// turns has workers that take turns.
func turns(g *gen, bug string) {
	pass := "store(turn, (me + 1) % $N);"
	if bug != "" {
		// Whoever finds the turn passed on already passes it on once more.
		pass = "store(turn, (me + 1) % $N); if (load(turn) != (me + 1) % $N) store(turn, (me + 1) % $N);"
	}
	g.emit(`atom turn; plain total;`)
	g.emit(`void worker(int me) { for (int i = 0; i < $R; i++) { ` + g.until("load(turn) == me") + ` total = total + 1; ` + pass + ` } }`)
	g.emit(`void body() { start(); finish(); check(total == $N * $R); }`)
}

// barrier has workers that meet after each round.
func barrier(g *gen, bug string) {
	reset := "store(count, $N); store(sense, s);"
	arrive := "int left = add(count, -1) - 1;"
	wait := g.until("load(sense) == s")
	switch bug {
	case "released before it is reset":
		reset = "store(sense, s); store(count, $N);"
	case "a lost decrement":
		arrive = "int left = load(count) - 1; store(count, left);"
	case "without a sense":
		reset, wait = "store(count, $N);", g.until("load(count) == $N")
	}
	g.emit(`atom count; atom sense; atom at[4];`)
	g.emit(`void meet(int s) { ` + arrive + ` if (left == 0) { ` + reset + ` } else ` + wait + ` }`)
	check := "for (int k = 0; k < $N; k++) check(load(at[k]) > i);"
	if bug != "" {
		check = ""
	}
	g.emit(`void worker(int me) { int s = 0; for (int i = 0; i < $R; i++) { s = 1 - s; store(at[me], i + 1); meet(s); ` + check + ` } }`)
	g.emit(`void body() { store(count, $N); start(); ` + g.pick("", g.until("load(at[0]) == $R")) + ` finish(); }`)
}

// countDown has main wait, asleep, until all workers have counted down.
func countDown(g *gen, bug string) {
	down := "if (add(left, -1) == 1) wake(left, 9);"
	wait := "for (;;) { int v = load(left); if (v == 0) break; sleep_while(left, v); }"
	switch bug {
	case "":
		wait = g.pick(wait, "for (;;) { int v = load(left); if (v == 0) break; if (v > 1) { "+g.pick("yield();", "nap();")+" } else sleep_while(left, v); }")
	case "a lost decrement":
		down = "int v = load(left) - 1; store(left, v); wake(left, 9);"
	case "a wake-up before the count":
		down = "wake(left, 9); add(left, -1);"
	case "asleep on another value":
		wait = "while (load(left)) sleep_while(left, load(left));"
	}
	g.emit(`atom left; atom work;`)
	g.emit(`void worker(int me) { for (int i = 0; i < $R; i++) add(work, 1); ` + down + ` }`)
	g.emit(`void body() { store(left, $N); start(); ` + wait + ` check(load(work) == $N * $R); finish(); }`)
}

// event has workers that sleep until the last one sets an event.
func event(g *gen, bug string) {
	set := "store(set, 1); wake(set, 9);"
	wait := "while (load(set) == 0) sleep_while(set, 0);"
	switch bug {
	case "":
		wait = g.pick(wait, "for (int k = 0; k < 2; k++) { if (load(set)) return; yield(); } "+wait)
	case "a wake-up before the event":
		set = "wake(set, 9); store(set, 1);"
	case "asleep on another value":
		wait = "if (load(set) == 0) sleep_while(set, load(set));"
	}
	g.emit(`atom set; plain data;`)
	g.emit(`void await() { ` + wait + ` }`)
	check := "check(data == 5);"
	if bug != "" {
		check = ""
	}
	g.emit(`void worker(int me) { if (me == $N - 1) { data = 5; ` + g.pick("", "yield();", "nap();") + set + ` } else { await(); ` + check + ` } }`)
	g.emit(`void body() { start(); finish(); }`)
}

// readersWriters has one writer and readers under a lock made of a latch and two words.
func readersWriters(g *gen, bug string) {
	latch, grab, drop := g.latch()
	inside := g.inside()
	leave := grab + "store(readers, load(readers) - 1); " + drop
	stay := ""
	switch bug {
	case "a reader leaves without the latch":
		leave = "store(readers, load(readers) - 1);"
	case "a writer that stays":
		stay = "if (load(mark)) return;"
	}
	g.emit(named(latch+`atom writing; atom readers; atom mark; plain a; plain b;
	void read_lock() { `+g.forever(grab+" if (!load(writing)) { store(readers, load(readers) + 1); "+drop+" return; } "+inside+drop)+` }
	void read_unlock() { `+leave+` }
	void write_lock() { `+g.forever(grab+" if (!load(writing) && !load(readers)) { store(writing, 1); "+drop+" return; } "+inside+drop)+` }
	void write_unlock() { `+grab+` store(writing, 0); `+drop+` }`, ""))
	g.emit(`void worker(int me) {
		for (int i = 0; i < $R; i++) {
			if (me == 0) { write_lock(); a = a + 1; b = b + 1; ` + stay + ` write_unlock(); }
			else { read_lock(); check(a == b); read_unlock(); if (i == 0) store(mark, 1); }
		}
	}`)
	g.emit(`void body() { start(); finish(); check(a == b); }`)
	if bug == "a reader leaves without the latch" {
		g.workers = max(g.workers, 3) // two readers
	}
}

// readersWord has the number of readers, or -1 for a writer, in one word.
func readersWord(g *gen, bug string) {
	leave := "add(word, -1);"
	if bug != "" {
		leave = "store(word, load(word) - 1);"
		g.workers = max(g.workers, 3)
	}
	g.emit(`atom word; plain a; plain b; int enter() { int v = load(word); return v >= 0 && cas(word, v, v + 1); }`)
	g.emit(`void worker(int me) {
		for (int i = 0; i < $R; i++) {
			if (me == 0) { ` + g.until("cas(word, 0, 0 - 1)") + ` a = a + 1; b = b + 1; store(word, 0); }
			else { ` + g.until("enter()") + ` check(a == b); ` + leave + ` }
		}
	}`)
	g.emit(`void body() { start(); finish(); }`)
}

// sequenceLock has readers that read again if the writer was there.
func sequenceLock(g *gen, bug string) {
	early := ""
	if bug == "a write left half done" {
		early = "if (load(mark)) return;"
	}
	g.emit(`atom sequence; atom a; atom b; atom mark;`)
	g.emit(`void change(int i) { store(sequence, load(sequence) + 1); ` + early + ` store(a, i); store(b, i); store(sequence, load(sequence) + 1); }`)
	check := "check(x == y);"
	if bug == "a write left half done" {
		check = ""
	}
	g.emit(`void look() { ` + g.forever("int s = load(sequence); if (s % 2 == 0) { int x = load(a); int y = load(b); if (load(sequence) == s) { "+check+" break; } }") + ` store(mark, 1); }`)
	writers := "me == 0"
	if bug == "two writers" {
		writers = "me != $N - 1"
		g.workers = max(g.workers, 3)
	}
	g.emit(`void worker(int me) { for (int i = 0; i < $R; i++) { if (` + writers + `) change(i); else look(); } }`)
	g.emit(`void body() { start(); finish(); }`)
}

// boundedBuffer has consumers that wait, with a condition variable, for items of one producer.
func boundedBuffer(g *gen, bug string) {
	put := "lock(m); items = items + 1; signal(c); unlock(m);"
	switch bug {
	case "":
		put = g.pick(put, "lock(m); items = items + 1; unlock(m); signal(c);", "lock(m); items = items + 1; unlock(m); broadcast(c);")
		g.emit(`mutex m; cond c; plain items;`)
	case "a signal for the first only":
		put = "lock(m); items = items + 1; if (items == 1) signal(c); unlock(m);"
		g.emit(`mutex m; cond c; plain items;`)
	default:
		put = "add(items, 1); signal(c);"
		g.emit(`mutex m; cond c; atom items;`)
	}
	get := "lock(m); while (items == 0) wait(c, m); items = items - 1; unlock(m);"
	if bug == "a signal without the mutex" {
		get = "lock(m); while (load(items) == 0) wait(c, m); add(items, -1); unlock(m);"
	}
	g.emit(`void worker(int me) { for (int i = 0; i < $R; i++) { if (me == 0) { for (int k = 1; k < $N; k++) { ` + put + ` } } else { ` + get + ` } } }`)
	g.emit(`void body() { start(); finish(); }`)
}

// ring has a producer and a consumer with a ring of two slots.
func ring(g *gen, bug string) {
	g.emit(`atom head; atom tail; atom slot[2]; atom sum;`)
	write := "store(slot[t % 2], i + 1); store(tail, t + 1);"
	if bug == "published before it is written" {
		write = "store(tail, t + 1); store(slot[t % 2], i + 1);"
		g.rounds += 2
	}
	g.emit(`void put(int i) { ` + g.until("load(tail) - load(head) < 2") + ` int t = load(tail); ` + write + ` }`)
	g.emit(`int get() { int h = load(head); ` + g.until("load(tail) != h") + ` int v = load(slot[h % 2]); store(head, h + 1); return v; }`)
	if bug == "two producers" {
		g.workers = 3
		g.emit(`void worker(int me) { for (int i = 0; i < $R; i++) { if (me < 2) put(i); else { get(); get(); } } }`)
		g.emit(`void body() { start(); finish(); }`)
		return
	}
	g.emit(`void worker(int me) { for (int i = 0; i < $R; i++) { if (me == 0) put(i); else { int v = get(); store(sum, load(sum) + v); } } }`)
	g.emit(`void body() { start(); finish(); check(load(sum) == $R * ($R + 1) / 2); }`)
}

// stack has workers that take elements from a stack without locks and put them back. An element is a number,
// and the top has a tag besides that makes each change a new value (Treiber).
func stack(g *gen, bug string) {
	tag := "top + 8"
	if bug != "" {
		tag = "top"
	}
	g.emit(`atom head; atom below[8];`)
	g.emit(`void push(int n) { for (;;) { int top = load(head); store(below[n], top % 8); if (cas(head, top, (` + tag + `) / 8 * 8 + n)) return; } }`)
	g.emit(`int pop() { for (;;) { int top = load(head); if (top % 8 == 0) return 0; int next = load(below[top % 8]); if (cas(head, top, (` + tag + `) / 8 * 8 + next)) return top % 8; } }`)
	g.emit(`void worker(int me) { for (int i = 0; i < $R; i++) { int n = pop(); int m = pop(); if (n) push(n); if (m) push(m); } }`)
	g.emit(`void body() { for (int i = 1; i <= 3; i++) push(i); start(); finish();
		int seen = 0; for (int e = load(head) % 8; e; e = load(below[e])) seen = seen | 1 << e; check(seen == 14); }`)
}

// list has workers that insert elements under a lock, and main walks the list until all are there.
func list(g *gen, bug string) {
	g.emit(`plain next[8]; plain first;` + g.lockFor("A"))
	g.emit(`void insert(int n, int me) { acquireA(me); next[n] = first; first = n; releaseA(me); }`)
	if bug == "" {
		g.emit(`void worker(int me) { for (int i = 0; i < $R; i++) insert(1 + me * $R + i, me); }`)
		walk := "int n = 0; acquireA($N); for (int e = first; e; e = next[e]) n++; releaseA($N); if (n == $N * $R) break;"
		if g.workers*g.rounds > 7 {
			g.rounds = 2
		}
		g.emit(`void body() { prepareA(); start(); ` + g.forever(walk) + ` finish(); }`)
		return
	}
	g.rounds = 2
	g.emit(`atom used; void worker(int me) { insert(1 + me, me); if (load(used) == 0) { store(used, 1); insert(7, me); } }`)
	g.emit(`void body() { prepareA(); start(); finish(); int last = 0; for (int e = first; e; e = next[e]) last = e; check(last); }`)
}

// lockFor returns a correct lock of any kind that main and all workers can use.
func (g *gen) lockFor(name string) string {
	for {
		if k := lockKinds[g.IntN(len(lockKinds))]; k.most > g.workers && !(g.small && k.large) {
			return named(k.text(g, false), name)
		}
	}
}

// queue is that of Michael and Scott (PODC 1996), without reuse of elements.
func queue(g *gen, bug string) {
	for g.workers*g.rounds > 6 {
		g.rounds--
	}
	link := "if (cas(link[t], 0, n)) { cas(tail, t, n); return; }"
	help := "else cas(tail, t, next);"
	switch bug {
	case "a lost link":
		link = "store(link[t], n); cas(tail, t, n); return;"
	case "waits for an old tail":
		help = "else " + g.until("load(link[t]) == 0")
	}
	g.emit(`atom head = 7; atom tail = 7; atom link[8];`)
	g.emit(`void enqueue(int n) { for (;;) { int t = load(tail); int next = load(link[t]); if (next == 0) { ` + link + ` } ` + help + ` } }`)
	g.emit(`int dequeue() { for (;;) { int h = load(head); int t = load(tail); int next = load(link[h]); if (next == 0) return 0; if (h == t) { cas(tail, t, next); continue; } if (cas(head, h, next)) return next; } }`)
	g.emit(`void worker(int me) { for (int i = 0; i < $R; i++) enqueue(1 + me * $R + i); }`)
	g.emit(`void body() { start(); int got = 0; ` + g.forever("int v = dequeue(); if (v) { got++; if (got == $N * $R) break; continue; }") + ` finish(); }`)
}

// once has workers of which the first makes a thing that all use.
func once(g *gen, bug string) {
	give := ""
	if bug != "" {
		give = "if (load(mark)) return 0;"
	}
	g.emit(`atom made; atom mark; plain thing;`)
	g.emit(`int get() { if (load(made) == 2) return thing; if (cas(made, 0, 1)) { ` + give + ` thing = 7; store(made, 2); return 7; } ` + g.until("load(made) == 2") + ` return thing; }`)
	g.emit(`void worker(int me) { if (me == $N - 1) store(mark, 1); for (int i = 0; i < $R; i++) { int v = get(); check(v == 7 || v == 0); } }`)
	g.emit(`void body() { start(); finish(); }`)
}

// potato has items in one box, of which each worker wants its own.
func potato(g *gen, bug string) {
	switch bug {
	case "": // swaps what it has for what is in the box
		g.emit(`atom box;`)
		g.emit(`void worker(int me) { int hand = (me + 1) % $N + 1; ` + g.forever("hand = xchg(box, hand); if (hand == me + 1) break;") + ` }`)
		g.emit(`void body() { start(); finish(); check(load(box) == 0); }`)
	case "two hands": // puts what is not its own back when the box is empty, so two may wait for each other
		g.emit(`atom box; atom left;`)
		g.emit(`void worker(int me) { ` + g.forever("int hand = xchg(box, 0); if (hand == me + 1) break; if (hand) "+g.until("cas(box, 0, hand)")) + ` }`)
		g.emit(`void body() { start(); for (int i = 1; i <= $N; i++) ` + g.until("cas(box, 0, i)") + ` finish(); }`)
	default: // two workers beat until a flag is set, which a worker's own flag may undo
		g.emit(`atom flags; atom beat[4];`)
		g.emit(`void worker(int me) { store(flags, load(flags) | 2 << me); ` + g.until("load(flags) & 1 || !(load(flags) & 2 << me)") + `
			while (!(load(flags) & 1)) { store(beat[me], 1 - load(beat[me])); yield(); } }`)
		g.emit(`void body() { start(); add(flags, 1); finish(); }`)
	}
}

// crossing has two workers that each want to be alone, and step back if the other wants, too.
func crossing(g *gen, bug string) {
	g.emit(`atom want[2]; atom crossed;`)
	before, wait := g.pauses()
	step := "while (load(want[1 - me])) { store(want[me], 0); " + wait + " store(want[me], 1); }"
	if bug != "" {
		step = "while (load(want[1 - me])) { " + wait + " }"
	}
	g.emit(`void worker(int me) { for (int i = 0; i < $R; i++) { ` + before + ` store(want[me], 1); ` + step + ` add(crossed, 1); store(want[me], 0); } }`)
	g.emit(`void body() { start(); finish(); check(load(crossed) == 2 * $R); }`)
}
