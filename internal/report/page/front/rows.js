// The rows that are visible, given what is unfolded.
//
// A row has a kind: `event`, `switch`, `fold`, `loop` (a heading of several rows), `interval` (a folded thread execution
// interval). `event` is its first event, `node` the fold or loop that it opens or closes, `depth` how many loops it is in.
// Most rows are those of one event outside of loops: they are kept as its number alone, and whole makes a row of that.

export function whole(r) { return typeof r === 'number' ? {kind: 'event', event: r, depth: 0} : r; }

export class Folds {
  constructor(run) {
    this.run = run;
    this.open = new Set(); // folds and loops of run.json.rows
    this.closed = new Set(); // first events of intervals
    this.only = null; // if set, there are only rows of the events for which it holds
    this.home = null; // by event: the folds and loops around it, outermost first
  }

  // rows returns the visible rows.
  rows() {
    const out = [];
    if (this.only) {
      for (let e = 0; e < this.run.events; e++) if (this.only(e)) out.push(e);
      return out;
    }
    this.add(out, this.run.json.rows, 0);
    return this.closed.size > 0 ? this.close(out) : out;
  }

  add(out, list, depth) {
    for (const r of list) {
      if (typeof r === 'number') out.push({kind: 'switch', event: r, depth});
      else if (Array.isArray(r)) this.range(out, r[0], r[1], depth);
      else if (r.fold) this.fold(out, r, depth);
      else if (r.body) this.loop(out, r, depth);
      else out.push({kind: 'event', event: r.event, text: this.run.json.strings[r.turn], depth});
    }
  }

  range(out, from, to, depth) {
    for (let e = from; e < to; e++) {
      if (e > from && this.run.switches.has(e)) out.push({kind: 'switch', event: e, depth});
      if (this.run.shown(e)) out.push(depth === 0 ? e : {kind: 'event', event: e, depth});
    }
  }

  fold(out, node, depth) {
    const open = this.open.has(node);
    out.push({kind: 'fold', event: begin(node), events: node.events, node, open, depth});
    if (open) this.add(out, node.fold, depth + 1);
  }

  loop(out, node, depth) {
    const open = this.open.has(node);
    const one = node.body.length === 1 && node.body[0].event !== undefined;
    if (one && !open) {
      out.push({kind: 'event', event: node.from, text: this.run.json.strings[node.body[0].turn], times: node.times, node, depth});
      return;
    }
    out.push({kind: 'loop', event: node.from, times: node.times, node, open, depth});
    if (open) this.range(out, node.from, node.to, depth + 1);
    else this.add(out, node.body, depth + 1);
  }

  // close replaces the rows of the closed intervals.
  close(rows) {
    const out = [];
    for (const part of intervals(rows)) {
      const first = part[0].kind === 'switch' ? part.slice(1) : part;
      if (part[0].kind === 'switch') out.push(part[0]);
      if (first.length > 0 && this.closed.has(whole(first[0]).event)) {
        out.push({kind: 'interval', event: whole(first[0]).event, rows: first, depth: 0});
      } else {
        for (const r of first) out.push(r);
      }
    }
    return out;
  }

  // toggleInterval folds or unfolds the interval with a row.
  toggleInterval(row) {
    if (row.kind === 'interval') {
      this.closed.delete(row.event);
      return;
    }
    const out = [];
    this.add(out, this.run.json.rows, 0);
    for (const part of intervals(out)) {
      if (!part.some((r) => whole(r).kind === row.kind && whole(r).event === row.event)) continue;
      const first = part.find((r) => r.kind !== 'switch');
      if (first !== undefined) this.closed.add(whole(first).event);
    }
  }

  // toggleIntervals folds all intervals, or unfolds them if any is folded.
  toggleIntervals() {
    if (this.closed.size > 0) {
      this.closed.clear();
      return;
    }
    const out = [];
    this.add(out, this.run.json.rows, 0);
    for (const part of intervals(out)) {
      const first = part.find((r) => r.kind !== 'switch');
      if (first !== undefined) this.closed.add(whole(first).event);
    }
  }

  // toggleAll unfolds everything, or folds everything if anything is unfolded.
  toggleAll() {
    const any = this.open.size > 0;
    this.open.clear();
    this.closed.clear();
    if (any) return;
    const visit = (list) => {
      for (const r of list) {
        if (r.fold) this.open.add(r), visit(r.fold);
        else if (r.body) this.open.add(r);
      }
    };
    visit(this.run.json.rows);
  }

  // toggle unfolds the outermost fold or loop around event e that is folded, or else folds the innermost one. Reports
  // whether there is one.
  toggle(e) {
    if (this.only) return false;
    if (!this.home) this.index();
    const around = this.home.get(e) ?? [], folded = around.find((node) => !this.open.has(node));
    if (folded) this.open.add(folded);
    else if (around.length > 0) this.open.delete(around[around.length - 1]);
    return around.length > 0;
  }

  // reveal unfolds what hides event e. Reports whether anything changed.
  reveal(e) {
    if (this.only) return false;
    if (!this.home) this.index();
    let changed = false;
    for (const node of this.home.get(e) ?? []) {
      if (!this.open.has(node) && !(node.body && firstTurn(node, e))) {
        this.open.add(node);
        changed = true;
      }
    }
    if (this.closed.size > 0 && !this.rows().some((r) => r === e || r.event === e && r.kind === 'event')) {
      this.closed.clear();
      changed = true;
    }
    return changed;
  }

  index() {
    this.home = new Map();
    const visit = (list, around) => {
      for (const r of list) {
        if (Array.isArray(r) && around.length > 0) {
          for (let e = r[0]; e < r[1]; e++) this.home.set(e, around);
        } else if (r.fold) {
          visit(r.fold, [...around, r]);
        } else if (r.body) {
          const inside = [...around, r];
          for (let e = r.from; e < r.to; e++) this.home.set(e, inside);
        }
      }
    };
    visit(this.run.json.rows, []);
  }
}

// firstTurn reports whether event e is in the first turn of a loop, which is drawn even if the loop is folded.
function firstTurn(node, e) { return e < node.from + Math.ceil((node.to - node.from) / node.times); }

// events calls f for the events that a fold or a loop stands for, until it returns true. Reports whether it did.
export function events(node, f) {
  if (node.body) {
    for (let e = node.from; e < node.to; e++) if (f(e)) return true;
    return false;
  }
  return node.fold.some((r) => {
    if (typeof r === 'number') return false;
    if (!Array.isArray(r)) return r.fold || r.body ? events(r, f) : f(r.event);
    for (let e = r[0]; e < r[1]; e++) if (f(e)) return true;
    return false;
  });
}

// begin is the first event of a fold.
function begin(node) {
  const r = node.fold[0];
  if (Array.isArray(r)) return r[0];
  if (r.fold) return begin(r);
  return r.body ? r.from : r.event ?? r;
}

// intervals divides rows before the switches that are in no loop.
function intervals(rows) {
  const out = [];
  for (const r of rows) {
    if (out.length === 0 || (r.kind === 'switch' && r.depth === 0)) out.push([]);
    out[out.length - 1].push(r);
  }
  return out;
}

// can reports whether a row can be selected.
export function can(r) { return r.kind === 'event' || r.kind === 'interval' || r.kind === 'end' || r.kind === 'fold' && !r.open; }

// rowsOf returns by event the index of its row, or of the row that stands for it.
export function rowsOf(run, rows) {
  const of = new Int32Array(run.events).fill(-1);
  rows.forEach((r, i) => {
    if (typeof r === 'number') of[r] = i;
    else if (r.kind === 'interval') r.rows.forEach((x) => { if (x.kind !== 'switch' && x.kind !== 'loop') of[x.event ?? x] = i; });
    else if (r.kind === 'event' && r.text === undefined) of[r.event] = i;
    else if (r.kind !== 'switch' && r.kind !== 'loop' && r.kind !== 'end' && of[r.event] < 0) of[r.event] = i;
  });
  let last = -1;
  for (let e = 0; e < run.events; e++) {
    if (of[e] < 0) of[e] = last;
    last = of[e];
  }
  return of;
}
