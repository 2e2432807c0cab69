// A Pane draws one execution: a lane per thread, a row per event. All rows have the same height, and only those in
// sight have elements, so that long executions stay usable.
import {el, svg, count, hover} from './dom.js';
import {Folds, can, events, rowsOf, whole} from './rows.js';

export const rowHeight = 26;
const gutter = 62, beyond = 8; // width of the event numbers; rows drawn above and below those in sight

// tallest is how many pixels an element may be high: browsers draw none beyond 17 million.
const tallest = 12e6;

// On paper, a long execution has the rows in sight and so many around the cause.
const paperRows = 5000, paperAround = 25;

export class Pane {
  // page is told of selections; marks are the events of the critical order, by event: its number.
  constructor(page, run, name, marks) {
    Object.assign(this, {page, run, name, marks, selected: 0, follow: -1, links: 'selected', drawn: '', shift: 0, paper: null, tallest});
    this.folds = new Folds(run);
    this.heads = el('div', {class: 'heads', 'aria-hidden': 'true'});
    this.lanes = el('div', {class: 'lanes', 'aria-hidden': 'true'});
    this.list = el('div', {class: 'rows'});
    this.arrows = svg('svg', {class: 'arrows', 'aria-hidden': 'true'});
    this.canvas = el('div', {class: 'canvas'}, this.lanes, this.list, this.arrows);
    this.scroller = el('div', {
      class: 'scroller', tabindex: 0, role: 'listbox', 'aria-label': `events, ${name}`,
      onscroll: () => this.later(), onfocus: () => page.focus(this),
    }, this.heads, this.canvas);
    this.map = el('canvas', {class: 'map', 'aria-hidden': 'true', onpointerdown: (e) => this.jump(e), onpointermove: (e) => e.buttons && this.jump(e)});
    const ending = run.json.failure ? 'fails' : 'passes';
    this.element = el('section', {class: `pane ${ending}`, 'aria-label': name},
      el('h2', {}, el('span', {class: 'verdict'}, run.json.failure ? 'fails' : 'does not fail'), ' ', run.json.ending),
      el('div', {class: 'table'}, this.scroller, this.map));
    this.arrange();
  }

  // arrange makes the rows anew after something was folded.
  arrange() {
    this.rows = this.folds.rows();
    this.rows.push({kind: 'end', event: this.run.events, depth: 0});
    this.of = rowsOf(this.run, this.rows);
    this.drawn = '';
  }

  // at returns row i.
  at(i) { return whole(this.rows[i]); }

  rowOf(e) { return e >= this.run.events ? this.rows.length - 1 : this.of[e] < 0 ? 0 : this.of[e]; }

  // layOut decides how wide lanes are. Where they are too narrow for text, the text stands beside them.
  layOut() {
    const width = this.scroller.clientWidth, n = this.run.columns.length;
    const room = width - gutter - 4;
    this.wide = room / n >= 148;
    const beside = (room - 130) / n >= 185; // there is room for places, or for source lines
    this.laneWidth = !this.wide ? Math.max(5, Math.min(22, room / 2 / n)) : beside ? Math.min(300, Math.max(185, (room - 330) / n)) : room / n;
    this.textAt = this.wide ? 0 : gutter + n * this.laneWidth + 8;
    this.sourceAt = this.wide ? gutter + n * this.laneWidth + 10 : Math.max(this.textAt + 250, width * 0.58);
    this.width = Math.max(width, this.wide ? 0 : this.textAt + 260);
    this.canvas.style.height = `${this.height()}px`;
    this.canvas.style.width = this.heads.style.width = this.width > width ? `${this.width}px` : '100%';
    this.heads.replaceChildren(...this.run.columns.map((c, i) => {
      const narrow = !this.wide;
      return el('div', {class: 'head', onclick: () => this.page.filter(`T${c.thread}`), style: `left:${this.x(i)}px;width:${this.laneWidth}px;${hue(i)}`, title: `${this.run.label(c.thread)}: show only this thread`},
        narrow ? (this.laneWidth >= 18 ? `${c.thread}` : '') : this.run.label(c.thread));
    }));
    this.lanes.replaceChildren(...this.run.columns.map((c, i) => el('div', {class: 'lane', style: `left:${this.middle(i)}px;${hue(i)}`})));
    this.drawn = '';
  }

  // height is that of the canvas: of all rows, unless that is more than a browser can draw. Then the scroll bar stands for more rows
  // than it has pixels.
  height() { return this.paper ? this.paperHeight : Math.min(this.rows.length * rowHeight, this.tallest); }

  // top is the first pixel in sight, as if the canvas had the height of all rows.
  top() { return this.scroller.scrollTop * this.scale(); }

  scale() {
    const all = this.rows.length * rowHeight, room = this.scroller.clientHeight - this.heads.offsetHeight;
    return all <= this.tallest ? 1 : (all - room) / Math.max(1, this.tallest - room);
  }

  scrollTo(top) { this.scroller.scrollTop = top / this.scale(); }

  // y is where a row is drawn in the canvas, -1 if it is not on the paper.
  y(i) {
    if (!this.paper) return i * rowHeight + this.shift;
    const part = this.paper.find((p) => i >= p.from && i < p.to);
    return part ? (part.at + i - part.from) * rowHeight : -1;
  }

  x(column) { return gutter + column * this.laneWidth; }
  middle(column) { return this.wide ? this.x(column) + 7 : this.x(column) + this.laneWidth / 2; }
  columnOf(thread) { return this.run.column.get(thread) ?? 0; }

  later() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }

  // draw draws the rows in sight.
  draw() {
    const [from, to, top, height] = this.sight();
    this.shift = this.scroller.scrollTop - top;
    const key = `${from} ${to} ${this.shift}`;
    if (this.paper) this.drawPaper();
    else if (key !== this.drawn) {
      this.drawn = key;
      this.list.replaceChildren(...this.rows.slice(from, to).map((r, i) => this.row(whole(r), from + i)));
    }
    this.drawLanes(from, to);
    this.drawArrows(top, height);
    this.drawMap();
  }

  // sight returns the rows to draw, and where those in sight begin and how high they are.
  sight() {
    const top = this.top(), height = this.scroller.clientHeight - this.heads.offsetHeight;
    return [Math.max(0, Math.floor(top / rowHeight) - beyond), Math.min(this.rows.length, Math.ceil((top + height) / rowHeight) + beyond), top, height];
  }

  // drawLanes draws the lines of the threads beside the rows.
  drawLanes(from, to) {
    this.run.columns.forEach((_, i) => {
      const first = Math.max(this.rowOf(this.run.first[i]), this.paper ? 0 : from), last = Math.min(this.rowOf(this.run.last[i]), this.paper ? this.rows.length - 1 : to - 1);
      const {style} = this.lanes.children[i];
      style.display = first <= last ? '' : 'none';
      style.top = `${this.paper ? 0 : this.y(first)}px`;
      style.height = `${this.paper ? this.paperHeight : (last - first + 1) * rowHeight}px`;
    });
  }

  // print lays the rows out for paper: all of a short execution; of a long one, those in sight, around the cause and before the end.
  print(on) {
    this.paper = null;
    const [from, to, top] = this.sight(), n = this.rows.length;
    if (on) {
      const around = (i) => [Math.max(0, i - paperAround), Math.min(n, i + paperAround + 1)];
      const wanted = n <= paperRows ? [[0, n]] : [[from, to], ...[...this.marks.keys(), this.selected].map((e) => around(this.rowOf(e))), around(n - 1)];
      wanted.sort((a, b) => a[0] - b[0]);
      this.paper = [];
      for (const [first, end] of wanted) {
        const last = this.paper.at(-1);
        if (last && first <= last.to) last.to = Math.max(last.to, end);
        else this.paper.push({from: first, to: end});
      }
      let at = 0;
      for (const p of this.paper) {
        if (p.from > 0) at++; // says what is left out
        p.at = at;
        at += p.to - p.from;
      }
      this.paperHeight = at * rowHeight;
    }
    this.canvas.style.height = `${this.height()}px`;
    if (on) this.before = top;
    else this.scrollTo(this.before); // a lower canvas has moved it
    this.again();
  }

  drawPaper() {
    let before = 0;
    this.list.replaceChildren(...this.paper.flatMap((p) => {
      const left = p.from - before;
      before = p.to;
      return [left > 0 ? el('div', {class: 'row left', style: `top:${(p.at - 1) * rowHeight}px`}, el('span', {class: 'why', style: `left:${gutter}px`}, `… ${count(left, 'row')} left out`)) : null,
        ...this.rows.slice(p.from, p.to).map((r, i) => this.row(whole(r), p.from + i))].filter(Boolean);
    }));
  }

  again() { this.drawn = ''; this.draw(); }

  // row returns the element of a row.
  row(r, i) {
    const style = `top:${this.y(i)}px`;
    if (r.kind === 'switch') return this.switchRow(r, i, style);
    if (r.kind === 'end') return this.endRow(i, style);
    const {run} = this, e = r.event, thread = run.thread(e), column = this.columnOf(thread);
    const hidden = r.kind === 'fold' && !r.open || r.kind === 'interval';
    const current = this.rowOf(this.selected) === i;
    const plain = r.kind === 'event';
    const classes = ['row', r.kind];
    let text, label;
    if (r.kind === 'loop') text = `${r.times.toLocaleString('en')} times` + (r.open ? '' : ', one turn:');
    else if (r.kind === 'fold') text = r.open ? `${count(r.events, 'event')} that no other thread notices` : count(r.events, 'event');
    else if (r.kind === 'interval') text = count(r.rows.filter((x) => x.kind !== 'switch').length, 'row');
    else text = (r.text ?? run.text(e)) + (r.times ? `, ${r.times.toLocaleString('en')} times` : '');
    if (plain && run.shared(e)) classes.push('shared');
    if (plain && run.failed(e)) classes.push('failed');
    if (plain && run.writes(e)) classes.push('writes');
    if (current) classes.push('current');
    const mark = this.markAt(r, hidden);
    if (mark) classes.push('critical');
    if (this.follow >= 0) classes.push(this.hasFollowed(r) ? 'followed' : 'aside');
    const at = plain || r.kind === 'loop' ? run.place(e) : null, place = at && at.label !== '?' ? at : null;
    label = `T${thread}, event ${e}: ${text}${place ? ', ' + place.label : ''}${mark ? `, of critical order ${mark}` : ''}`;
    const folding = r.node || r.kind === 'interval';
    const left = this.wide ? this.middle(column) + 8 : this.textAt + r.depth * 14;
    const boxWidth = (this.sourceAt < this.width - 90 ? this.sourceAt : this.width) - left - 8;
    return el('div', {
      class: classes.join(' '), style: style + ';' + hue(column), id: `${this.name}-${i}`, role: 'option', 'aria-selected': `${current}`, 'aria-label': label,
      'aria-setsize': this.rows.length, 'aria-posinset': i + 1, onclick: () => this.page.select(this, e, true), ondblclick: () => this.fold(i),
    },
    el('span', {class: 'number'}, e.toLocaleString('en')),
    el('i', {class: 'run', style: `left:${this.middle(column) - 2}px`}),
    el('span', {class: 'box', style: `left:${left}px;max-width:${Math.max(40, boxWidth)}px${this.wide && r.depth ? `;margin-left:${r.depth * 8}px` : ''}`, title: plain && run.shown(e) ? hover(text, run.size(e)) : text},
      folding ? el('button', {class: 'fold', tabindex: -1, 'aria-label': r.open ? 'fold' : 'unfold', onclick: (x) => { x.stopPropagation(); this.fold(i); }}, r.kind === 'loop' || r.times ? '↻' : r.open ? '▾' : '▸') : null,
      mark ? el('b', {class: 'mark'}, mark) : null,
      this.wide ? null : el('span', {class: 'who'}, `T${thread} `), text),
    place && this.sourceAt < this.width - 90 ? el('span', {class: 'source', style: `left:${this.sourceAt}px`}, el('span', {class: 'at'}, place.label), this.sourceAt < this.width - 260 ? ` ${place.text ?? ''}` : null) : null);
  }

  switchRow(r, i, style) {
    const s = this.run.switches.get(r.event), from = this.columnOf(s.from), to = this.columnOf(s.to);
    const [a, b] = [this.middle(from), this.middle(to)];
    const preempted = s.reason === 'preempted';
    const left = this.wide ? Math.min(a, b) + 14 : this.textAt;
    return el('div', {
      class: `row switch ${s.reason}${this.follow >= 0 ? ' aside' : ''}`, style, role: 'option', 'aria-selected': 'false', 'aria-setsize': this.rows.length, 'aria-posinset': i + 1,
      'aria-label': `context switch from T${s.from} to T${s.to}: ${s.text}`, onclick: () => this.page.select(this, r.event, true), ondblclick: () => this.page.foldInterval(this, r.event),
    },
    el('i', {class: 'hop', style: `left:${Math.min(a, b)}px;width:${Math.abs(a - b)}px`}),
    el('i', {class: `tip ${a < b ? 'right' : 'left'}`, style: `left:${b}px`}),
    el('span', {class: 'why', style: `left:${left}px`}, preempted ? '⚡ ' : '', s.text));
  }

  endRow(i, style) {
    const current = this.selected >= this.run.events;
    return el('div', {
      class: `row end${current ? ' current' : ''}`, style, id: `${this.name}-${i}`, role: 'option', 'aria-selected': `${current}`, 'aria-label': `the end: ${this.run.json.ending}`,
      'aria-setsize': this.rows.length, 'aria-posinset': i + 1, onclick: () => this.page.select(this, this.run.events, true),
    }, el('span', {class: 'number'}, 'end'), el('span', {class: 'box', style: `left:${gutter}px`}, (this.run.json.failure ? '✖ ' : '✔ ') + this.run.json.ending));
  }

  // markAt returns which orders have an event in a row: `1`, `1 2`.
  markAt(r, hidden) {
    if (!hidden) return r.kind === 'event' ? this.marks.get(r.event) : undefined;
    for (const [e, mark] of this.marks) if (this.rows[this.rowOf(e)] === r) return mark;
    return undefined;
  }

  // hasFollowed reports whether a row stands for an event of the followed object.
  hasFollowed(r) {
    const about = (e) => this.run.shown(e) && this.run.about(e, this.follow);
    if (r.kind === 'interval') return r.rows.some((x) => this.hasFollowed(whole(x)));
    if (r.node && !r.open) return events(r.node, about);
    return r.kind === 'event' && about(r.event);
  }

  // point returns where an event is drawn, in the canvas.
  point(e) {
    const column = this.columnOf(this.run.thread(Math.min(e, this.run.events - 1)));
    return [this.middle(column), this.paper ? this.y(this.rowOf(e)) + rowHeight / 2 : (this.rowOf(e) + 0.5) * rowHeight];
  }

  drawArrows(top, height) {
    const {run} = this, out = [];
    this.arrows.style.top = `${this.paper ? 0 : top + this.shift}px`;
    const shown = this.paper ? this.paperHeight : height;
    this.arrows.setAttribute('width', this.width);
    this.arrows.setAttribute('height', Math.max(0, shown));
    const offset = this.paper ? 0 : top;
    const arrow = (from, to, kind) => {
      const [x1, y1] = this.point(from), [x2, y2] = this.point(to);
      if (y1 < 0 || y2 < 0) return; // not on the paper
      if (Math.max(y1, y2) < offset - 50 || Math.min(y1, y2) > offset + shown + 50 || y1 === y2) return;
      const a = y1 - offset, b = y2 - offset, bend = Math.min(46, 14 + Math.abs(b - a) / 6);
      const side = x1 <= x2 ? -1 : 1, sx = kind === 'order' ? -bend : side * 0;
      const d = kind === 'order' || x1 === x2 ? `M${x1 - 4} ${a} C${x1 + sx - 12} ${a + (b - a) / 3} ${x2 + sx - 12} ${b - (b - a) / 3} ${x2 - 6} ${b}`
        : `M${x1} ${a} C${x1} ${a + (b - a) / 2} ${x2} ${a + (b - a) / 2} ${x2} ${b - 8}`;
      out.push(svg('path', {class: kind, d, 'marker-end': `url(#${this.name}-${kind})`}));
    };
    const links = run.links(this.selected);
    if (this.links === 'all') {
      const first = Math.floor(offset / rowHeight), last = Math.ceil((offset + shown) / rowHeight);
      const rows = this.paper ? this.paper.flatMap((p) => this.rows.slice(p.from, p.to)) : this.rows.slice(first, last);
      for (const r of rows.map(whole)) {
        if (r.kind === 'switch' || r.kind === 'end') continue;
        for (const e of run.links(r.event).into) arrow(e, r.event, 'hb');
        for (const e of run.links(r.event).from) arrow(r.event, e, 'hb');
      }
    } else if (this.links === 'selected') {
      for (const e of links.into) arrow(e, this.selected, 'hb');
      for (const e of links.from) arrow(this.selected, e, 'hb');
    }
    for (const o of this.page.ordersOf(this)) arrow(o.first, o.second, 'order');
    this.arrows.replaceChildren(svg('defs', {}, ...['hb', 'order'].map((kind) => svg('marker', {
      id: `${this.name}-${kind}`, class: kind, viewBox: '0 0 8 8', refX: 6, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto-start-reverse',
    }, svg('path', {d: 'M0 0 L8 4 L0 8 z'})))), ...out);
  }

  // drawMap draws the whole execution small, beside the scroll bar: which thread runs when.
  drawMap() {
    const height = this.scroller.clientHeight, width = 46, scale = window.devicePixelRatio || 1;
    const key = `${height} ${this.rows.length} ${this.page.theme()} ${this.follow}`;
    const c = this.map.getContext('2d');
    if (key !== this.mapped) {
      this.mapped = key;
      this.map.width = width * scale;
      this.map.height = height * scale;
      this.map.style.height = `${height}px`;
      const n = this.run.columns.length, w = width / n, rows = this.rows.length, y = (i) => i / rows * height;
      const colours = this.run.columns.map((_, i) => getComputedStyle(this.lanes.children[i] ?? this.element).backgroundColor);
      const own = getComputedStyle(this.element);
      c.scale(scale, scale);
      const step = Math.max(1, Math.floor(rows / height / 4)); // several rows in a pixel look alike
      const tall = Math.max(1, height / rows * step);
      for (let i = 0; i < rows - 1; i += step) {
        const r = this.at(i);
        if (r.kind === 'switch') continue;
        const k = this.columnOf(this.run.thread(r.event));
        c.globalAlpha = this.follow < 0 || this.hasFollowed(r) ? 1 : 0.2;
        c.fillStyle = colours[k];
        c.fillRect(k * w, y(i), Math.max(1, w - 1), tall);
      }
      c.globalAlpha = 1;
      c.fillStyle = own.getPropertyValue('--alarm');
      for (const e of this.marks.keys()) c.fillRect(0, y(this.rowOf(e)) - 1, width, 2);
      if (this.run.json.failure) c.fillRect(0, height - 3, width, 3);
      this.picture = c.getImageData(0, 0, this.map.width, this.map.height);
    } else {
      c.putImageData(this.picture, 0, 0);
    }
    const all = this.rows.length * rowHeight;
    this.map.hidden = all <= height - this.heads.offsetHeight;
    if (all > height) {
      c.strokeStyle = getComputedStyle(this.element).color;
      c.lineWidth = 1;
      c.strokeRect(0.5, this.top() / all * height + 0.5, width - 1, Math.max(6, height / all * height - 1));
    }
  }

  jump(e) {
    const box = this.map.getBoundingClientRect();
    const part = (e.clientY - box.top) / box.height;
    this.scrollTo(part * this.rows.length * rowHeight - this.scroller.clientHeight / 2);
  }

  // reveal makes an event visible.
  reveal(e, unfold) {
    if (unfold && e < this.run.events && this.folds.reveal(e)) { this.arrange(); this.layOut(); }
    const y = this.rowOf(e) * rowHeight, top = this.top(), room = this.scroller.clientHeight - this.heads.offsetHeight;
    if (y < top - room || y > top + 2 * room) this.scrollTo(Math.max(0, y - room / 2));
    else if (y < top + 2 * rowHeight) this.scrollTo(Math.max(0, y - 3 * rowHeight));
    else if (y > top + room - 3 * rowHeight) this.scrollTo(y - room + 4 * rowHeight);
    this.scroller.setAttribute('aria-activedescendant', `${this.name}-${this.rowOf(e)}`);
  }

  // next returns the event of the next row for which stop holds, or -1.
  next(by, stop) {
    for (let i = this.rowOf(this.selected) + by; i >= 0 && i < this.rows.length; i += by) {
      const r = this.at(i);
      if (can(r) && stop(r)) return r.event;
    }
    return -1;
  }

  // fold folds or unfolds row i, or what it is in.
  fold(i) {
    const r = this.at(i);
    if (r.kind === 'interval') this.folds.toggleInterval(r);
    else if (r.node) this.folds.open.has(r.node) ? this.folds.open.delete(r.node) : this.folds.open.add(r.node);
    else if (r.kind === 'end' || !this.folds.toggle(r.event)) return false;
    this.refold();
    return true;
  }

  refold() {
    const at = this.rowOf(this.selected) * rowHeight - this.top();
    this.arrange();
    this.layOut();
    this.scrollTo(this.rowOf(this.selected) * rowHeight - at);
    this.draw();
  }
}

// hue is a style that sets the colour of a column. Neighbours differ.
export function hue(column) { return `--h:${[255, 60, 150, 310, 20, 200, 105, 280][column % 8]}`; }
