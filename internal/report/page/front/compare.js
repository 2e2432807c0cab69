// The page of a comparison: where an execution first deviates from the golden one, and how that spreads in each thread.
// It draws what heddle compare --json prints.
import {count, el, svg} from './dom.js';

const fields = [['op', 'operation'], ['where', 'at'], ['object', 'variable'], ['place', 'memory'], ['size', 'bytes'], ['value', 'value']];
const meanings = {
  none: 'Every event of every thread is the same.',
  data: 'The same instructions access the same memory, with other values.',
  address: 'The same instructions access other memory.',
  control: 'Another instruction is executed.',
};

class Comparison {
  constructor(data) {
    const d = data.comparison;
    this.data = data;
    this.longest = Math.max(1, ...d.threads.map((t) => t.golden));
    const equal = d.deviation === 'none' && d.outcome === 'benign';
    this.chosen = Math.max(0, d.threads.findIndex((t) => d.first && t.thread === d.first.thread));
    this.detail = el('div', {class: 'detail', role: 'region', 'aria-label': 'deviations of the selected thread', 'aria-live': 'polite'});
    this.rows = d.threads.map((t, i) => this.row(t, i));
    document.body.append(
      el('header', {class: 'top'},
        el('div', {class: 'headline'}, el('span', {class: equal ? 'verdict passes' : 'verdict fails'}, d.outcome),
          el('h1', {}, d.deviation === 'none' ? 'no deviation' : `a deviation of ${d.deviation}`)),
        el('p', {class: 'facts'}, el('span', {}, 'golden: ', el('code', {}, data.golden)), el('span', {}, 'compared: ', el('code', {}, data.other)),
          el('span', {}, count(d.threads.length, 'thread')), d.builds ? el('span', {}, 'two builds, compared by source lines and variables') : null)),
      el('main', {class: 'wide'},
        el('p', {class: 'lead'}, meanings[d.deviation], d.first ? ` It begins in ${d.first.thread}, at ${(d.first.other ?? d.first.golden).where}.` : ''),
        el('table', {class: 'threads'},
          el('thead', {}, el('tr', {}, ['thread', 'events', 'data', 'address', 'over time, from the first event to the last'].map((h, i) => el('th', {scope: 'col', class: i > 0 && i < 4 ? 'number' : null}, h)))),
          el('tbody', {}, this.rows)),
        el('ul', {class: 'legend'},
          el('li', {}, el('i', {style: 'background:var(--good-paper)'}), 'equal'),
          el('li', {}, el('i', {style: 'background:var(--bolt)'}), 'some of the events deviate; the fuller, the more'),
          el('li', {}, el('i', {style: 'border:2px solid var(--alarm);width:3px'}), 'first deviation of the thread'),
          el('li', {}, el('i', {style: 'background:repeating-linear-gradient(45deg, var(--faint) 0 1px, transparent 1px 5px)'}), 'not compared: after a deviation in control, the executions do not become the same again')),
        this.detail));
    this.choose(this.chosen);
    document.addEventListener('keydown', (e) => {
      const by = {j: 1, ArrowDown: 1, k: -1, ArrowUp: -1}[e.key];
      if (!by || e.ctrlKey || e.metaKey || e.altKey) return;
      e.preventDefault();
      this.choose(Math.min(d.threads.length - 1, Math.max(0, this.chosen + by)));
    });
  }

  row(t, i) {
    return el('tr', {tabindex: 0, onclick: () => this.choose(i), onkeydown: (e) => e.key === 'Enter' && this.choose(i)},
      el('th', {class: 'name', scope: 'row', title: t.thread}, t.thread),
      el('td', {class: 'number'}, t.golden === t.other ? t.golden.toLocaleString('en') : `${t.golden.toLocaleString('en')} / ${t.other.toLocaleString('en')}`),
      el('td', {class: 'number'}, t.data.toLocaleString('en')), el('td', {class: 'number'}, t.address.toLocaleString('en')),
      el('td', {class: 'picture'}, this.picture(t)));
  }

  // picture draws a thread's golden events as a bar, its parts filled by how many of their events deviate.
  picture(t) {
    const width = 1000, whole = Math.max(2, t.golden / this.longest * width), at = (e) => t.golden === 0 ? 0 : e / t.golden * whole;
    const parts = t.spread ?? [], size = t.golden / Math.max(1, parts.length);
    const label = t.first ? `${t.thread}: deviates from event ${t.first.event} of ${t.golden}` : `${t.thread}: no deviation`;
    return svg('svg', {viewBox: `0 0 ${width} 26`, preserveAspectRatio: 'none', role: 'img', 'aria-label': label},
      svg('defs', {}, svg('pattern', {id: 'hatch', class: 'hatch', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)'}, svg('path', {d: 'M0 0 V6'}))),
      svg('rect', {class: 'ground', x: 0, y: 3, width: whole, height: 20}),
      ...parts.map((n, i) => {
        const height = n === 0 ? 0 : Math.max(3, Math.min(1, n / Math.max(1, size)) * 20);
        return svg('rect', {class: 'part data', x: i * whole / parts.length, y: 23 - height, width: whole / parts.length, height});
      }),
      ...(t.compared < t.golden ? [svg('rect', {class: 'rest', x: at(t.compared), y: 3, width: whole - at(t.compared), height: 20})] : []),
      ...(t.first ? [svg('path', {class: 'first', d: `M${at(t.first.event)} 0 V26`, 'vector-effect': 'non-scaling-stroke'})] : []));
  }

  choose(i) {
    const {threads, first, ordered} = this.data.comparison, t = threads[i];
    this.chosen = i;
    this.rows.forEach((r, k) => r.setAttribute('aria-selected', `${k === i}`));
    if (!t) return;
    const parts = [];
    const pair = (title, d) => parts.push(el('section', {'aria-label': title}, el('h2', {}, title), this.pair(d)));
    if (t.first) {
      const origin = first && first.thread === t.thread;
      pair(origin ? (ordered ? 'Where it began' : 'The first deviation') : `The first deviation of ${t.thread}`, t.first);
    }
    if (t.controls > 0) {
      parts.push(el('p', {class: 'facts'}, el('span', {}, `control deviates ${count(t.controls, 'time')}`),
        t.rejoined > 0 ? el('span', {}, `${count(t.skipped, 'event')} missing, ${t.extra.toLocaleString('en')} added until the executions are the same again`) : null,
        t.rejoined < t.controls ? el('span', {}, 'what follows the last deviation is not compared') : null));
    }
    if (t.control && (!t.first || t.control.event !== t.first.event)) pair(`Where the control flow of ${t.thread} deviates`, t.control);
    if (parts.length === 0) parts.push(el('p', {}, `${t.thread} does not deviate.`));
    this.detail.replaceChildren(...parts);
  }

  // pair shows two events, and where they differ.
  pair(d) {
    const value = (e, f) => e ? e[f] : '';
    return el('div', {},
      el('p', {class: 'facts'}, `${d.thread}, event ${d.event.toLocaleString('en')} of the thread`, d.trace !== undefined ? `, event ${d.trace.toLocaleString('en')} of the compared trace` : ''),
      el('table', {class: 'pair'},
        el('thead', {}, el('tr', {}, el('td', {}), el('th', {scope: 'col'}, 'golden'), el('th', {scope: 'col'}, 'compared'))),
        el('tbody', {}, fields.filter(([f]) => value(d.golden, f) || value(d.other, f)).map(([f, name]) => {
          const [a, b] = [value(d.golden, f), value(d.other, f)];
          return el('tr', {class: a === b ? null : 'differs'}, el('th', {scope: 'row'}, name), el('td', {}, d.golden ? a : 'no event'), el('td', {}, d.other ? b : 'no event'));
        }))));
  }
}

window.heddle = new Comparison(JSON.parse(document.getElementById('data').textContent));
