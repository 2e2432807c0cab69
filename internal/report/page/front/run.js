// A Run is one execution, as data.go encodes it.

const reasons = ['preempted', 'yielded', 'ended', 'blocked'];

// Flags of a shape, as in data.go.
const shared = 1, failed = 2, writes = 4;

export class Run {
  constructor(json) {
    this.json = json;
    this.events = json.threads.length;
    const ran = [];
    for (const t of json.threads) ran[t] = true;
    this.columns = json.columns.filter((c) => ran[c.thread]); // threads that never ran have no lane
    this.column = new Map(this.columns.map((c, i) => [c.thread, i]));
    this.labels = new Map(json.columns.map((c) => [c.thread, `T${c.thread} ${c.name}${c.path ? ` (${c.path})` : ''}`]));
    this.switches = new Map();
    for (const [event, from, to, preemptive, text, next, reason] of json.switches) {
      this.switches.set(event, {event, from, to, preemptive: preemptive === 1, text: json.strings[text], next, reason: reasons[reason]});
    }
    this.files = new Map();
    for (const s of json.sources) {
      if (!this.files.has(s.file)) this.files.set(s.file, []);
      this.files.get(s.file).push(s);
    }
    this.findSpans();
  }

  // shown reports whether event e has a row.
  shown(e) { return e >= 0 && e < this.events && this.json.steps[e] >= 0; }

  shape(e) { return this.json.shapes[this.json.steps[e]]; }
  thread(e) { return this.json.threads[e]; }
  text(e) { return this.json.strings[this.json.texts[e]]; }
  place(e) { return this.json.places[this.shape(e)[0]]; }
  stack(e) { return this.json.stacks[this.shape(e)[1]]; }
  object(e) { return this.shape(e)[2]; }
  failed(e) { return (this.shape(e)[4] & failed) !== 0; }
  shared(e) { return (this.shape(e)[4] & shared) !== 0; }
  writes(e) { return (this.shape(e)[4] & writes) !== 0; }

  // after is the value that the object of e has from then on; empty if unknown.
  after(e) { return this.json.strings[this.json.after[e]]; }

  name(object) { return object < 0 ? '' : this.json.strings[this.json.objects[object].name]; }

  // label is `T1 worker`.
  label(thread) { return this.labels.get(thread) ?? `T${thread}`; }

  // overlap reports whether two objects share memory.
  overlap(a, b) {
    if (a < 0 || b < 0) return false;
    const x = this.json.objects[a], y = this.json.objects[b];
    return x.group === y.group && x.offset < y.offset + y.size && y.offset < x.offset + x.size;
  }

  // about reports whether event e concerns an object.
  about(e, object) {
    const s = this.shape(e);
    return this.overlap(s[2], object) || this.overlap(s[3], object);
  }

  // matcher returns a function that reports whether an event is what a query looks for: `T2` is a thread, `object:NAME` what
  // events are about, and the rest a text in descriptions, functions, positions or source lines. Case does not matter.
  matcher(query) {
    const objects = [], threads = [];
    const text = query.toLowerCase().replace(/(?<=^|\s)(?:t(\d+)|object:(\S+))(?=\s|$)/g, (_, thread, object) => {
      if (thread) threads.push(Number(thread));
      else objects.push(object);
      return '';
    }).trim().replace(/\s+/g, ' ');
    const {json} = this;
    // Events share their descriptions and places, so each is looked at once.
    const once = (list, test) => {
      const known = new Int8Array(list.length);
      return (i) => (known[i] || (known[i] = test(list[i]) ? 1 : -1)) > 0;
    };
    const described = once(json.strings, (s) => s.toLowerCase().includes(text));
    const placed = once(json.places, (p) => `${p.label}\n${p.func ?? ''}\n${p.text ?? ''}`.toLowerCase().includes(text));
    const named = once(json.objects, (o) => objects.every((name) => json.strings[o.name].toLowerCase().includes(name)));
    return (e) => {
      if (!this.shown(e) || threads.length > 0 && !threads.includes(this.thread(e))) return false;
      const [place, , object, other] = this.shape(e);
      if (objects.length > 0 && !(object >= 0 && named(object) || other >= 0 && named(other))) return false;
      return text === '' || described(json.texts[e]) || placed(place);
    };
  }

  // size is how many bytes the values of an event's object have; 8 if that is not known.
  size(e) { const object = this.object(e); return object < 0 || this.json.objects[object].memory !== 1 ? 8 : this.json.objects[object].size; }

  // findSpans finds the range in which each thread has events, by column.
  findSpans() {
    this.first = new Array(this.columns.length).fill(-1);
    this.last = new Array(this.columns.length).fill(-1);
    const columns = [];
    for (const [thread, c] of this.column) columns[thread] = c;
    for (let e = 0; e < this.events; e++) {
      const c = columns[this.json.threads[e]];
      if (this.first[c] < 0) this.first[c] = e;
      this.last[c] = e;
    }
  }

  // links returns the arrows that end and begin at event e: {into, from} of events.
  links(e) {
    if (!this.ends) this.indexArrows();
    return {into: this.ends.get(e) ?? [], from: this.begins.get(e) ?? []};
  }

  indexArrows() {
    this.ends = new Map();
    this.begins = new Map();
    const add = (map, key, value) => map.has(key) ? map.get(key).push(value) : map.set(key, [value]);
    for (let i = 0; i < this.json.arrows.length; i += 2) {
      const [from, to] = [this.json.arrows[i], this.json.arrows[i + 1]];
      add(this.ends, to, from);
      add(this.begins, from, to);
    }
  }

  // values returns what is known of memory after event e: for each object the last value, the event that showed it, and the
  // value before, if e changed it.
  values(e) {
    this.memory ??= new Progress({known: new Map(), changed: null}, (m) => ({known: new Map(m.known), changed: m.changed}), (m, e) => this.remember(m, e));
    const m = this.memory.at(e);
    return {known: [...m.known.values()], changed: m.changed};
  }

  remember(m, e) {
    m.changed = null;
    if (!this.shown(e)) return;
    const object = this.object(e), value = this.after(e);
    if (object < 0 || (value === '' && !this.writes(e))) return;
    const before = m.known.get(object);
    if (this.writes(e)) this.forget(m.known, object);
    if (value === '') return;
    m.known.set(object, {object, value, event: before && before.value === value ? before.event : e});
    if ((before ? before.value : '') !== value) m.changed = {object, before: before ? before.value : ''};
  }

  // forget removes the values of an object and of those that overlap it.
  forget(known, object) {
    if (!this.groups) {
      this.groups = new Map();
      this.json.objects.forEach((o, i) => this.groups.has(o.group) ? this.groups.get(o.group).push(i) : this.groups.set(o.group, [i]));
    }
    for (const other of this.groups.get(this.json.objects[object].group)) {
      if (this.overlap(object, other)) known.delete(other);
    }
  }

  // held returns the locks that threads hold after event e, as {thread, object, times, shared}.
  held(e) {
    this.locks ??= new Progress({next: 0, held: new Map()}, (l) => ({next: l.next, held: new Map(l.held)}), (l, e) => {
      for (; l.next < this.json.locks.length && this.json.locks[l.next][0] === e; l.next++) {
        const [, thread, object, times, shared] = this.json.locks[l.next], key = `${thread} ${object}`;
        if (times > 0) l.held.set(key, {thread, object, times, shared: shared === 1});
        else l.held.delete(key);
      }
    });
    return [...this.locks.at(e).held.values()];
  }

  // source returns the embedded lines of a file around a line, as {number, text}.
  source(place, around) {
    const out = [];
    for (const x of this.files.get(place.file) ?? []) {
      x.lines.forEach((text, i) => {
        const number = x.from + i;
        if (Math.abs(number - place.line) <= around) out.push({number, text});
      });
    }
    return out;
  }
}

// A Progress is a state that each event changes. It is known after any event without beginning anew: a copy is kept every so many events.
class Progress {
  constructor(state, copy, change) {
    Object.assign(this, {copy, change, kept: [{event: -1, state}], now: null});
  }

  at(e) {
    const every = 1 << 14;
    const near = this.kept[Math.min(Math.floor((e + 1) / every), this.kept.length - 1)];
    if (!this.now || e < this.now.event || this.now.event < near.event) this.now = {event: near.event, state: this.copy(near.state)};
    const {now} = this;
    while (now.event < e) {
      this.change(now.state, ++now.event);
      if (now.event + 1 === this.kept.length * every) this.kept.push({event: now.event, state: this.copy(now.state)});
    }
    return now.state;
  }
}

// align pairs the events of two executions: the n-th event of a thread with the n-th event of the same thread in the other
// one, as long as both are at the same place. Returns by event of a the event of b, or -1, and the reverse.
export function align(a, b) {
  const ab = new Int32Array(a.events).fill(-1), ba = new Int32Array(b.events).fill(-1);
  const listOf = (run) => {
    const lists = new Map();
    for (let e = 0; e < run.events; e++) {
      if (!run.shown(e)) continue;
      const t = run.label(run.thread(e));
      lists.has(t) ? lists.get(t).push(e) : lists.set(t, [e]);
    }
    return lists;
  };
  const others = listOf(b);
  for (const [thread, events] of listOf(a)) {
    const other = others.get(thread) ?? [];
    for (let i = 0; i < events.length && i < other.length; i++) {
      if (a.place(events[i]).label !== b.place(other[i]).label) break;
      ab[events[i]] = other[i];
      ba[other[i]] = events[i];
    }
  }
  return [ab, ba];
}
