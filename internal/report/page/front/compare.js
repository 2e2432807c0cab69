// The page of a comparison: where an execution first deviates from the golden one, how that spreads in each thread, and
// how the two ended. It draws what heddle compare --json prints.
import {begin, count, el, hex, svg} from './dom.js';

const fields = [['op', 'operation'], ['where', 'at'], ['object', 'variable'], ['place', 'memory'], ['size', 'bytes'], ['value', 'value']];
const none = {place: '-', size: '0', value: '-'}; // what an event has that has no such field

// meaning says what a pair of events has in common.
function meaning(d) {
  if (!d.other) return 'the thread has ended, or was never created';
  if (!d.golden) return 'the thread has more events';
  return {
    data: 'the same instruction accesses the same memory, with another value',
    address: 'the same instruction accesses other memory',
    control: 'another instruction is executed',
  }[d.kind];
}

const where = (d) => (d.other ?? d.golden).where;

class Comparison {
  constructor(data) {
    const d = data.comparison;
    this.data = data;
    this.deviates = d.threads.some((t) => t.first);
    this.chosen = Math.max(0, d.threads.findIndex((t) => d.first && t.thread === d.first.thread));
    this.detail = el('div', {class: 'detail', role: 'region', 'aria-label': 'deviations of the selected thread', 'aria-live': 'polite'});
    const columns = this.deviates ? ['thread', 'events', 'data', 'address', 'control', 'from the thread’s first event to its last'] : ['thread', 'events'];
    this.rows = d.threads.map((t, i) => this.row(t, i, columns));
    const badge = d.outcome !== 'benign' ? 'fails' : d.deviation === 'none' ? 'passes' : 'neutral';
    document.body.append(
      el('header', {class: 'top'},
        el('div', {class: 'headline'}, el('span', {class: `verdict ${badge}`}, d.outcome), el('h1', {}, this.headline())),
        el('p', {class: 'facts'}, el('span', {}, 'golden: ', el('code', {}, data.golden)), el('span', {}, 'compared: ', el('code', {}, data.other)),
          el('span', {}, count(d.threads.length, 'thread')), d.builds ? el('span', {}, 'two builds, compared by functions, lines and variables') : null,
          d.fault ? el('span', {}, `fault: ${d.fault}`) : null)),
      el('main', {class: 'wide'},
        this.lead(), this.endings(),
        el('h2', {}, this.deviates ? 'Deviations of each thread' : 'Threads'),
        el('table', {class: this.deviates ? 'threads' : 'threads equal'},
          el('thead', {}, el('tr', {}, columns.map((h, i) => el('th', {scope: 'col', class: i > 0 && i < 5 ? 'number' : null}, h)))),
          el('tbody', {}, this.rows)),
        this.deviates ? [this.legend(), this.detail] : null));
    this.choose(this.chosen);
    document.addEventListener('keydown', (e) => {
      const by = {j: 1, ArrowDown: 1, k: -1, ArrowUp: -1}[e.key];
      if (!by || e.ctrlKey || e.metaKey || e.altKey) return;
      e.preventDefault();
      this.choose(Math.min(d.threads.length - 1, Math.max(0, this.chosen + by)));
    });
  }

  // headline says how the deviation begins and what it becomes.
  headline() {
    const {deviation, outcome, first} = this.data.comparison;
    if (deviation === 'none' || !first) return outcome === 'benign' ? 'No deviation' : 'No deviation, but another outcome';
    return first.kind === deviation ? `A deviation in ${deviation}` : `A deviation in ${first.kind} that reaches ${deviation}`;
  }

  // lead says where it begins, where control deviates first, and in which order the threads follow.
  lead() {
    const d = this.data.comparison, first = d.first, sentence = (...parts) => el('p', {}, ...parts);
    if (!first) return el('div', {class: 'lead'}, sentence('Every event of every thread is the same.'), this.contents());
    // A thread that lacks an event deviates at no time: it comes last, without a number.
    const last = d.threads.length + 1, most = 12;
    const follow = d.ordered ? d.threads.filter((t) => t.first).sort((a, b) => (a.order ?? last) - (b.order ?? last)) : [];
    return el('div', {class: 'lead'},
      sentence(d.ordered ? 'It begins in ' : 'The first thread that deviates is ', this.thread(first.thread), `, at ${where(first)}, in ${first.kind}: ${meaning(first)}.`,
        d.ordered ? '' : ' Which thread deviated first is not known: a sanitised file does not have the order.'),
      d.control && first.kind !== 'control' ? sentence(!d.ordered ? 'Control deviates in ' : d.control.other ? 'Control deviates first in ' : 'Control deviates only where threads end sooner, such as ', this.thread(d.control.thread), `, at ${where(d.control)}: ${meaning(d.control)}.`) : null,
      d.deviation === 'address' && first.kind === 'data' ? sentence('Later, instructions access other memory.') : null,
      this.contents(),
      follow.length > 1 ? el('ol', {class: 'follow', 'aria-label': 'order of the threads’ first deviations'},
        follow.slice(0, most).map((t) => el('li', {}, el('span', {class: 'mark'}, t.order ? `${t.order}` : '–'), this.thread(t.thread), t.first.other ? ` ${where(t.first)}` : ` ${meaning(t.first)}`)),
        follow.length > most ? el('li', {}, `and ${count(follow.length - most, 'thread')} more`) : null) : null);
  }

  contents() {
    const {deviation, threads} = this.data.comparison, n = threads.reduce((sum, t) => sum + t.contents, 0);
    return n > 0 && deviation !== 'data' ? el('p', {}, `${count(n, 'range')} of memory with other contents, which may have no cause.`) : null;
  }

  // thread is a button that selects a thread.
  thread(name) {
    const i = this.data.comparison.threads.findIndex((t) => t.thread === name);
    return el('button', {class: 'thread', onclick: () => this.choose(i)}, name);
  }

  // endings shows how the executions ended, and the first line in which their outputs differ.
  endings() {
    const e = this.data.comparison.endings;
    if (!e) return null;
    const text = (x) => [x.text, x.thread && `in ${x.thread}`, x.where && `at ${x.where}`].filter(Boolean).join(', ');
    const rows = [['ending', text(e.golden), text(e.other)]];
    if (rows[0][1] === rows[0][2] && !e.output) return el('p', {class: 'ended'}, `Both ended the same, with the same output: ${rows[0][1]}.`);
    if (e.output) rows.push([`output, line ${e.output.line.toLocaleString('en')}`, e.output.golden ?? 'has ended', e.output.other ?? 'has ended']);
    return el('section', {'aria-label': 'how they ended'}, el('h2', {}, 'How they ended'), this.table(rows),
      e.output ? null : el('p', {class: 'facts'}, 'The output is the same.'));
  }

  // legend explains what is in the picture.
  legend() {
    const threads = this.data.comparison.threads, item = (style, text) => el('li', {}, el('i', {style}), text);
    return el('ul', {class: 'legend'},
      el('li', {}, 'Each bar is its thread’s own time.'),
      item('background:var(--good-paper)', 'equal'),
      item('background:var(--bolt)', 'some of the events deviate; the fuller, the more'),
      threads.some((t) => t.order) ? el('li', {}, el('span', {class: 'mark'}, '1'), 'first deviation of the thread; numbers say in which order they happened')
        : item('border:2px solid var(--alarm);width:3px', 'first deviation of the thread'),
      threads.some((t) => later(t)) ? item('border:0 dashed var(--alarm);border-left-width:2px;width:3px;border-radius:0', 'control deviates') : null,
      threads.some((t) => t.compared < t.golden) ? item('background:repeating-linear-gradient(45deg, var(--faint) 0 1px, transparent 1px 5px)', 'not compared: after a deviation in control, the executions do not become the same again') : null);
  }

  row(t, i, columns) {
    const number = (n, k) => el('td', {class: 'number', 'data-name': columns[k]}, n);
    return el('tr', {tabindex: 0, onclick: () => this.choose(i), onkeydown: (e) => e.key === 'Enter' && this.choose(i)},
      el('th', {class: 'name', scope: 'row', title: t.thread}, t.thread),
      number(t.golden === t.other ? t.golden.toLocaleString('en') : `${t.golden.toLocaleString('en')} / ${t.other.toLocaleString('en')}`, 1),
      this.deviates ? [number(t.data.toLocaleString('en'), 2), number(t.address.toLocaleString('en'), 3), number(t.controls.toLocaleString('en'), 4),
        el('td', {class: 'picture'}, this.picture(t))] : null);
  }

  // picture draws a thread's golden events as a bar, its parts filled by how many of their events deviate. Each bar is a
  // thread's own time: where marks of two threads stand does not say which was first, so they have numbers.
  picture(t) {
    const width = 1000, at = (e) => t.golden === 0 ? 0 : e / t.golden * width;
    const parts = t.spread ?? [], size = t.golden / Math.max(1, parts.length);
    const label = t.first ? `${t.thread}: deviates from event ${t.first.event} of ${t.golden}${t.order ? `, as number ${t.order}` : ''}` : `${t.thread}: no deviation`;
    const line = (name, e) => svg('path', {class: name, d: `M${at(e)} 0 V26`, 'vector-effect': 'non-scaling-stroke'});
    return el('div', {class: 'track'},
      svg('svg', {viewBox: `0 0 ${width} 26`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label},
        svg('defs', {}, svg('pattern', {id: 'hatch', class: 'hatch', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)'}, svg('path', {d: 'M0 0 V6'}))),
        svg('rect', {class: t.golden === 0 ? 'ground absent' : 'ground', x: 0, y: 3, width, height: 20}),
        ...parts.map((n, i) => {
          const height = n === 0 ? 0 : Math.max(3, Math.min(1, n / Math.max(1, size)) * 20);
          return svg('rect', {class: 'part data', x: i * width / parts.length, y: 23 - height, width: width / parts.length, height});
        }),
        ...(t.compared < t.golden ? [svg('rect', {class: 'rest', x: at(t.compared), y: 3, width: width - at(t.compared), height: 20})] : []),
        ...(later(t) ? [line('control', t.control.event)] : []),
        ...(t.first ? [line('first', t.first.event)] : [])),
      t.order ? el('span', {class: 'mark', style: `left:${at(t.first.event) / width * 100}%`}, `${t.order}`) : null);
  }

  choose(i) {
    const {threads, first, ordered} = this.data.comparison, t = threads[i];
    if (!t || !this.deviates) return;
    this.chosen = i;
    this.rows.forEach((r, k) => r.setAttribute('aria-selected', `${k === i}`));
    const parts = [];
    const pair = (title, d) => parts.push(el('section', {'aria-label': title}, el('h2', {}, title), this.pair(d)));
    if (t.first) {
      const origin = first && first.thread === t.thread;
      pair(origin ? (ordered ? 'Where it began' : 'The first deviation') : `The first deviation of ${t.thread}`, t.first);
    }
    if (later(t)) pair(`Where the control flow of ${t.thread} deviates`, t.control);
    if (t.controls > 0) {
      parts.push(el('p', {class: 'facts'}, el('span', {}, `control deviates ${count(t.controls, 'time')}`),
        t.rejoined > 0 ? el('span', {}, `${count(t.skipped, 'event')} missing, ${t.extra.toLocaleString('en')} added until the executions are the same again`) : null,
        t.rejoined < t.controls ? el('span', {}, 'what follows the last deviation is not compared') : null));
    }
    if (parts.length === 0) parts.push(el('p', {class: 'quiet'}, `${t.thread} does not deviate.`));
    this.detail.replaceChildren(...parts);
  }

  // pair shows two events, and where they differ.
  pair(d) {
    const value = (e, f) => e && e[f] !== none[f] ? e[f] ?? '' : '';
    const rows = fields.map(([f, name]) => [name, value(d.golden, f), value(d.other, f), f === 'value']).filter(([, a, b]) => a || b);
    // Two builds have other names for the same: only a deviation in control is one of the instruction.
    const equal = {data: ['at', 'variable', 'memory'], address: ['at']}[d.kind] ?? [];
    return el('div', {},
      el('p', {class: 'facts'}, `${d.thread}, event ${d.event.toLocaleString('en')} of the thread`, d.trace !== undefined ? `, event ${d.trace.toLocaleString('en')} of the compared trace` : ''),
      this.table(rows.map(([name, a, b, number]) => [name, d.golden ? a : 'no event', d.other ? b : 'no event', number]), equal, Number((d.other ?? d.golden).size)));
  }

  // table shows what the two executions have, and emphasises where they differ, except in what counts as equal. Numbers have so many bytes.
  table(rows, equal = [], size = 8) {
    const cell = (text, number) => el('td', {title: number && text ? hex(text, size) || null : null}, text || '–');
    return el('table', {class: 'pair'},
      el('thead', {}, el('tr', {}, el('td', {}), el('th', {scope: 'col'}, 'golden'), el('th', {scope: 'col'}, 'compared'))),
      el('tbody', {}, rows.map(([name, a, b, number]) => el('tr', {class: a === b || equal.includes(name) ? null : 'differs'}, el('th', {scope: 'row'}, name), cell(a, number), cell(b, number)))));
  }
}

// later reports whether a thread deviates in control only after its first deviation.
function later(t) {
  return t.control && (!t.first || t.control.event !== t.first.event);
}

begin((data) => new Comparison(data));
