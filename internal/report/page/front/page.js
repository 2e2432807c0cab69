// The page: a headline, why the execution fails, the executions side by side, and a panel for the selected event.
import {begin, el, count} from './dom.js';
import {Run, align} from './run.js';
import {Pane, hue} from './pane.js';
import {panel} from './panel.js';

const keys = [
  ['j k ↓ ↑', 'next, previous event (of the followed object)'],
  ['n p', 'next, previous context switch'],
  ['N P', 'next, previous preemption'],
  ['c', 'next event of the critical order'],
  ['enter', 'unfold, or fold what the event is in'],
  ['z Z', 'fold or unfold the interval; all intervals'],
  ['a', 'unfold everything, fold everything'],
  ['f', 'follow the event’s object; again: stop'],
  ['h', 'happens-before arrows: of the event, all, none'],
  ['o', 'show or hide the execution that does not fail'],
  ['tab', 'go to the other execution'],
  ['/', 'search: text, T2, object:NAME; empty: again; #12: go to event 12'],
  ['F', 'only the rows that the search text matches, or of the followed object; again: all'],
  ['g G', 'the beginning, the end'],
  ['t', 'dark or light'],
  ['?', 'these keys'],
];

class Page {
  constructor(data) {
    this.data = data;
    this.runs = data.runs.map((r) => new Run(r));
    const x = data.explanation;
    this.orders = x ? x.orders : [];
    this.findOrders();
    this.panes = this.runs.map((run, i) => new Pane(this, run, i === 0 ? 'execution' : 'passing', this.marks[i]));
    this.pane = this.panes[0];
    this.beside = this.panes.length > 1 && window.innerWidth >= 1500;
    this.query = '';
    this.build();
  }

  // findOrders finds the events of the critical order in both executions. In the passing one they are the other way round.
  findOrders() {
    this.marks = this.runs.map(() => new Map());
    this.arrowsOf = this.runs.map(() => []);
    const [failing, passing] = this.runs;
    const same = passing ? align(failing, passing) : null;
    const mark = (i, e, n) => this.marks[i].set(e, this.marks[i].has(e) ? `${this.marks[i].get(e)} ${n}` : `${n}`);
    this.orders.forEach((o, i) => {
      const n = i + 1;
      mark(0, o.first, n);
      if (o.second >= 0 && !o.waiting) { // what a thread waits for has no row
        mark(0, o.second, n);
        this.arrowsOf[0].push({first: o.first, second: o.second});
      }
      if (!passing) return;
      const first = same[0][o.first], second = o.second < 0 ? o.inPassing : o.waiting ? -1 : same[0][o.second];
      if (first >= 0) mark(1, first, n);
      if (second >= 0) mark(1, second, n);
      if (first >= 0 && second >= 0 && second < first) this.arrowsOf[1].push({first: second, second: first});
    });
  }

  ordersOf(pane) { return this.arrowsOf[this.panes ? this.panes.indexOf(pane) : 0]; }

  theme() { return document.documentElement.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light'); }

  build() {
    const d = this.data;
    this.input = el('input', {
      type: 'search', id: 'search', placeholder: 'search  /', 'aria-label': 'search events', autocomplete: 'off', spellcheck: 'false',
      onkeydown: (e) => this.searchKey(e),
    });
    this.status = el('p', {class: 'status', role: 'status'});
    this.side = el('aside', {class: 'panel', 'aria-label': 'selected event', tabindex: 0});
    this.help = el('dialog', {class: 'help', 'aria-label': 'keys', onclick: () => this.help.close()},
      el('h2', {}, 'Keys'), el('table', {}, el('tbody', {}, keys.map(([k, does]) => el('tr', {}, el('th', {scope: 'row'}, k), el('td', {}, does))))),
      el('form', {method: 'dialog'}, el('button', {}, 'close')));
    const button = (text, title, does, pressed) => el('button', {title, onclick: does, 'aria-pressed': pressed}, text);
    this.bar = el('div', {class: 'bar', role: 'toolbar', 'aria-label': 'view'},
      this.input,
      this.filterButton = button('filter', 'only the rows that the search text matches (F)', () => this.toggleFilter(), false),
      button('← step', 'previous event (k)', () => this.step(-1)), button('step →', 'next event (j)', () => this.step(1)),
      button('⚡ next', 'next preemption (N)', () => this.stepSwitch(1, true)),
      button('unfold all', 'a', () => this.toggleAll()),
      button('arrows', 'happens-before arrows (h)', () => this.cycleArrows()),
      this.panes.length > 1 ? button('passing execution', 'o', () => this.toggleBeside(), this.beside) : null,
      button('◐', 'dark or light (t)', () => this.toggleTheme()), button('?', 'keys', () => this.help.showModal()),
      this.status);
    this.main = el('main', {class: 'main'}, el('div', {class: 'panes'}, this.panes.map((p) => p.element)), this.side);
    document.body.append(
      el('a', {class: 'skip', href: '#execution-0', onclick: (e) => { e.preventDefault(); this.pane.scroller.focus(); }}, 'to the events'),
      el('header', {class: 'top'},
        el('div', {class: 'headline'}, el('span', {class: d.failed ? 'verdict fails' : 'verdict passes'}, d.failed ? 'fails' : 'does not fail'), el('h1', {}, d.title)),
        el('p', {class: 'facts'}, d.command ? el('code', {}, d.command) : null, [...d.facts, ...(d.trace ? [d.trace] : [])].map((f) => el('span', {}, f)))),
      this.story(), this.bar, this.main, this.foot(), this.help);
    this.showBeside();
    document.addEventListener('keydown', (e) => this.key(e));
    window.addEventListener('hashchange', () => this.fromHash());
    new ResizeObserver(() => this.layOut()).observe(this.main);
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.layOut());
    window.addEventListener('beforeprint', () => this.print(true));
    window.addEventListener('afterprint', () => this.print(false));
    this.layOut();
    if (!this.fromHash()) this.begin();
  }

  // story says why the execution fails: the critical order if it is known, and otherwise what the failure itself tells.
  story() {
    const x = this.data.explanation, f = this.data.runs[0].failure, run = this.runs[0];
    const parts = [];
    if (x) {
      if (x.pattern) parts.push(el('h2', {}, x.pattern));
      if (x.line) parts.push(el('p', {class: 'line'}, x.line));
      parts.push(el('p', {class: 'text'}, x.text));
      if (x.orders.length > 0) {
        parts.push(el('ol', {class: 'orders'}, x.orders.map((o, i) => el('li', {}, el('b', {class: 'mark'}, i + 1),
          this.event(0, o.first), el('span', {class: 'before'}, '→ before →'), o.second >= 0 && !o.waiting ? this.event(0, o.second) : this.later(o),
          el('span', {class: 'count'}, turned(o))))));
      }
    } else if (f && (f.waits || f.sides || f.object)) {
      parts.push(el('ul', {class: 'known'}, f.object ? el('li', {}, f.object) : null,
        (f.sides ?? []).map((s) => el('li', {}, s.event >= 0 ? this.event(0, s.event) : s.text)),
        (f.waits ?? []).slice(0, 8).map((w) => el('li', {style: hue(this.panes[0].columnOf(w.thread))}, el('span', {class: 'chip'}, w.text)))));
    }
    if (parts.length === 0) return el('div', {class: 'story empty'});
    return el('section', {class: 'story', 'aria-label': 'why it fails'}, parts);
  }

  later(o) {
    if (o.second < 0 && this.runs[1]) return el('span', {}, this.event(1, o.inPassing), ' which has not happened when the execution ends');
    return o.waiting ? el('span', {}, 'what ', this.event(0, o.second, true), ' waits for') : '';
  }

  // event is a button that selects an event.
  event(i, e, short) {
    const run = this.runs[i];
    const text = short ? run.label(run.thread(e)) : `T${run.thread(e)} ${run.shown(e) ? run.text(e) : ''}`;
    const at = run.shown(e) ? run.place(e).label : '';
    return el('button', {class: 'chip', style: hue(run.column.get(run.thread(e)) ?? 0), onclick: () => this.goTo(i, e)}, text, at && at !== '?' && !short ? el('small', {}, ` ${at}`) : null);
  }

  foot() {
    const d = this.data;
    const copy = (c) => el('li', {}, `${c.does}: `, el('code', {}, c.text), ' ', el('button', {onclick: () => this.copy(c.text)}, 'copy'));
    return el('footer', {}, d.output ? el('details', {}, el('summary', {}, 'output of the program'), el('pre', {}, d.output)) : null,
      (d.commands ?? []).length > 0 ? el('details', {class: 'commands'}, el('summary', {}, 'commands'), el('ul', {}, d.commands.map(copy))) : null,
      (d.notes ?? []).map((n) => el('p', {class: 'note'}, n)));
  }

  copy(text) {
    const done = () => this.say('copied');
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, () => this.say(text));
    else this.say(text);
  }

  say(text) { this.status.textContent = text; }

  // begin selects where a reader should look first: at the critical order or the race, or else the last preemption, or else at what failed.
  begin() {
    const run = this.runs[0], f = run.json.failure;
    let e = this.orders[0]?.first ?? f?.sides?.[0]?.event ?? -1;
    const known = e >= 0;
    if (!known && f) e = [...run.switches.values()].findLast((s) => s.reason === 'preempted')?.event ?? -1;
    for (let i = run.events - 1; e < 0 && f && i >= 0; i--) if (run.shown(i) && run.failed(i)) e = i;
    if (e < 0) e = f ? run.events : 0;
    this.select(this.pane, e, false, known);
    this.pane.scroller.focus({preventScroll: true});
  }

  focus(pane) {
    if (this.pane === pane) return;
    this.pane = pane;
    this.showPanel();
  }

  // select selects an event. by: the reader chose it, so the address names it.
  select(pane, e, by, unfold = true) {
    this.pane = pane;
    const {run} = pane;
    if (e < run.events) while (e > 0 && !run.shown(e)) e--;
    const before = pane.selected;
    pane.selected = e;
    pane.reveal(e, unfold);
    if (before !== e || !pane.drawn) pane.again(); else pane.later();
    this.alignOther(pane, e);
    this.showPanel();
    if (by) {
      this.say('');
      try { history.replaceState(null, '', `#${this.panes.indexOf(pane) === 0 ? 'e' : 'p'}${e}`); } catch { /* not from every place */ }
    }
  }

  // counterpart returns the event of the other execution at which to look beside event e of execution i: the same one, otherwise that of
  // the same ordering, otherwise that of the last event before e that both have; -1 if there is none.
  counterpart(i, e) {
    if (e >= this.runs[i].events) return this.runs[1 - i].events;
    const at = this.marks[i].get(e);
    if (this.same[i][e] < 0 && at !== undefined) {
      for (const [there, n] of this.marks[1 - i]) if (n === at) return there;
    }
    while (e >= 0 && this.same[i][e] < 0) e--;
    return e < 0 ? -1 : this.same[i][e];
  }

  // alignOther scrolls the other execution to what counterpart says.
  alignOther(pane, e) {
    if (!this.beside || this.panes.length < 2) return;
    const i = this.panes.indexOf(pane), other = this.panes[1 - i];
    this.same ??= align(this.runs[0], this.runs[1]);
    const there = this.counterpart(i, e);
    if (there < 0) return;
    other.selected = there;
    other.reveal(there, false);
    other.again();
  }

  goTo(i, e) {
    if (i === 1 && !this.beside) this.toggleBeside();
    this.select(this.panes[i], e, true);
    this.pane.scroller.focus({preventScroll: true});
  }

  showPanel() {
    this.side.replaceChildren(...panel(this, this.pane, this.pane.selected).filter(Boolean));
    for (const p of this.panes) p.element.classList.toggle('focus', p === this.pane && this.beside);
  }

  fromHash() {
    const m = /^#([ep])(\d+)$/.exec(location.hash);
    if (!m) return false;
    const pane = this.panes[m[1] === 'e' ? 0 : 1];
    if (!pane || Number(m[2]) > pane.run.events) { this.say(`there is no event ${m[2]}`); return false; }
    if (m[1] === 'p' && !this.beside) this.toggleBeside();
    this.select(pane, Number(m[2]), false);
    pane.scroller.focus({preventScroll: true});
    return true;
  }

  step(by) {
    const {pane} = this, follow = pane.follow;
    const e = pane.next(by, (r) => follow < 0 || r.kind === 'end' || pane.hasFollowed(r));
    if (e < 0) this.say(by > 0 ? 'this is the end of the execution' : 'this is the beginning of the execution');
    else this.select(pane, e, true, false);
  }

  stepSwitch(by, preemptions) {
    const {pane} = this;
    const switches = [...pane.run.switches.values()].filter((s) => !preemptions || s.reason === 'preempted').map((s) => s.event);
    const e = by > 0 ? switches.find((s) => s > pane.selected) : switches.findLast((s) => s < pane.selected);
    if (e === undefined) this.say(`no ${by > 0 ? 'later' : 'earlier'} ${preemptions ? 'preemption' : 'context switch'}`);
    else this.select(pane, e, true);
  }

  nextCritical() {
    const events = [...this.pane.marks.keys()].sort((a, b) => a - b);
    if (events.length === 0) return this.say('no critical order is known: heddle explain --html finds it');
    this.select(this.pane, events.find((e) => e > this.pane.selected) ?? events[0], true);
  }

  toggleFollow() {
    const {pane} = this;
    if (pane.follow >= 0) pane.follow = -1;
    else if (pane.selected < pane.run.events && pane.run.shown(pane.selected) && pane.run.object(pane.selected) >= 0) {
      pane.follow = pane.run.object(pane.selected);
      let n = 0;
      for (let e = 0; e < pane.run.events; e++) if (pane.run.shown(e) && pane.run.about(e, pane.follow)) n++;
      this.say(`following ${pane.run.name(pane.follow)}: ${n.toLocaleString('en')} ${n === 1 ? 'event' : 'events'}`);
    } else return this.say('nothing to follow here: go to an event of the object');
    pane.again();
    this.showPanel();
  }

  toggleAll() { this.pane.folds.toggleAll(); this.pane.refold(); }

  toggleFold() {
    const {pane} = this;
    if (!pane.fold(pane.rowOf(pane.selected))) this.say('nothing to unfold here');
  }

  foldInterval(pane, event) {
    pane.folds.toggleInterval(pane.at(pane.rowOf(event)));
    pane.refold();
  }

  cycleArrows() {
    const {pane} = this;
    pane.links = {selected: 'all', all: 'none', none: 'selected'}[pane.links];
    this.say({selected: 'happens-before arrows of the selected event', all: 'all happens-before arrows', none: 'no happens-before arrows'}[pane.links]);
    pane.again();
  }

  toggleBeside() {
    if (this.panes.length < 2) return this.say('there is no other execution on this page: heddle explain --html adds one that does not fail');
    this.beside = !this.beside;
    if (!this.beside) this.pane = this.panes[0];
    this.showBeside();
    this.layOut();
    this.select(this.pane, this.pane.selected, false, false);
  }

  showBeside() {
    document.body.classList.toggle('beside', this.beside);
    if (this.panes.length > 1) this.panes[1].element.hidden = !this.beside;
    this.bar.querySelector('[aria-pressed]')?.setAttribute('aria-pressed', this.beside);
  }

  otherPane() {
    if (!this.beside) return;
    this.pane = this.panes[1 - this.panes.indexOf(this.pane)];
    this.pane.scroller.focus({preventScroll: true});
    this.showPanel();
  }

  toggleTheme() {
    document.documentElement.dataset.theme = this.theme() === 'dark' ? 'light' : 'dark';
    this.layOut();
  }

  layOut() {
    for (const p of this.panes) {
      if (p.element.hidden) continue;
      p.layOut();
      p.draw();
    }
  }

  // search goes to the next event that a text occurs in.
  search(query) {
    if (query !== '') this.query = query.toLowerCase();
    if (this.query === '') return;
    const {pane} = this, {run} = pane;
    const number = /^#(\d[\d,]*)$/.exec(this.query);
    if (number) {
      const e = Number(number[1].replaceAll(',', ''));
      return e <= run.events ? this.select(pane, e, true) : this.say(`there is no event ${e}: the last is ${run.events - 1}`);
    }
    const matches = run.matcher(this.query), has = (e) => matches(e) && (!pane.folds.only || pane.folds.only(e));
    for (let i = 1; i <= run.events; i++) {
      const e = (pane.selected + i) % run.events;
      if (has(e)) return this.select(pane, e, true);
    }
    return this.say(`no event has ${this.query}`);
  }

  // filter leaves only the rows of events that a query matches, of all executions; an empty one leaves all.
  filter(query) {
    this.input.value = query;
    this.only(query === '' ? null : (run) => run.matcher(query), query);
  }

  only(make, what) {
    for (const p of this.panes) {
      p.folds.only = make && make(p.run);
      p.refold();
    }
    this.filterButton.setAttribute('aria-pressed', make !== null);
    const {pane} = this, n = pane.rows.length - 1; // the end
    if (!make) this.say('all rows');
    else this.say(`${count(n, 'event')} of ${pane.run.events.toLocaleString('en')}: ${what}`);
    if (make && n > 0) {
      this.select(pane, pane.at(pane.rowOf(pane.selected)).event, false, false);
    }
  }

  toggleFilter() {
    const {pane} = this, query = this.input.value.trim();
    if (pane.folds.only) this.only(null);
    else if (query !== '') this.filter(query);
    else if (pane.follow >= 0) {
      const name = pane.run.name(pane.follow);
      this.only((run) => (e) => run.shown(e) && (run === pane.run ? run.about(e, pane.follow) : run.name(run.object(e)) === name), name);
    } else this.say('nothing to filter by: enter a text, T2 or object:NAME, or follow an object');
  }

  searchKey(e) {
    if (e.key === 'Enter') this.search(this.input.value);
    else if (e.key === 'Escape') this.pane.scroller.focus({preventScroll: true});
    else return;
    e.preventDefault();
    if (e.key === 'Enter') this.pane.scroller.focus({preventScroll: true});
  }

  key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey || e.target === this.input || this.help.open) return;
    const onButton = e.target instanceof HTMLButtonElement || e.target instanceof HTMLElement && e.target.tagName === 'SUMMARY';
    const does = {
      j: () => this.step(1), ArrowDown: () => this.step(1), k: () => this.step(-1), ArrowUp: () => this.step(-1),
      n: () => this.stepSwitch(1), p: () => this.stepSwitch(-1), N: () => this.stepSwitch(1, true), P: () => this.stepSwitch(-1, true),
      c: () => this.nextCritical(), f: () => this.toggleFollow(), F: () => this.toggleFilter(), a: () => this.toggleAll(), h: () => this.cycleArrows(), o: () => this.toggleBeside(),
      z: () => this.foldInterval(this.pane, this.pane.selected), Z: () => { this.pane.folds.toggleIntervals(); this.pane.refold(); },
      ...Object.fromEntries([['g', 0], ['Home', 0], ['G', this.pane.run.events], ['End', this.pane.run.events]].map(([key, e]) => [key, () => this.select(this.pane, e, true, false)])),
      t: () => this.toggleTheme(), '?': () => this.help.showModal(), '/': () => { this.input.focus(); this.input.select(); },
      ...(onButton ? {} : {Enter: () => this.toggleFold()}),
      ...(e.target.classList?.contains('scroller') && this.beside && !e.shiftKey ? {Tab: () => this.otherPane()} : {}),
    }[e.key];
    if (!does) return;
    e.preventDefault();
    does();
  }

  print(on) {
    for (const p of this.panes) if (!p.element.hidden) p.print(on);
  }
}

// turned says how often the execution failed with an order turned, and which.
function turned(o) {
  if (!(o.executions > 0)) return '';
  const n = count(o.executions, 'execution'), way = o.together ? 'with both orders turned' : 'the other way round';
  return o.failed > 0 ? `${way} it fails in ${o.failed} of ${n}` : `${way} it does not fail: ${n}`;
}

begin((data) => new Page(data));
