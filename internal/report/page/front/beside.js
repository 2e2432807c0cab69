// The page of a failing execution beside one that passes: what differs first, and both in one table. It draws what heddle
// compare --json prints of one trace.
import {begin, count, el} from './dom.js';

const most = 5000; // rows of a fold that are drawn at once
const number = (e) => e && e.event >= 0 ? e.event.toLocaleString('en') : '';
const text = (e) => e ? `${e.thread} ${e.text}` : '';

// sentence is an event with its place and its number.
function sentence(e) {
  return `${text(e)}${e.where ? ` at ${e.where}` : ''}${e.event >= 0 ? ` (event ${number(e)})` : ''}`;
}

class Beside {
  constructor(d) {
    this.body = el('tbody');
    document.body.append(
      el('header', {class: 'top'},
        el('div', {class: 'headline'}, el('span', {class: 'verdict fails'}, 'fails'), el('h1', {}, d.why || d.failing.ending)),
        el('p', {class: 'facts'}, d.turned || d.given ? null : el('span', {}, 'the ordering that decides is not known: the other is an execution near it'),
          el('span', {}, count(d.failing.events, 'event'), ' and ', count(d.passing.events, 'event')),
          el('span', {}, el('code', {}, d.failing.replay)), el('span', {}, el('code', {}, d.passing.replay)))),
      el('main', {class: 'wide'},
        el('dl', {class: 'told'}, this.told(d)),
        el('table', {class: 'beside'},
          el('colgroup', {}, ['numbers', '', 'marks', 'numbers', '', 'places'].map((c) => el('col', {class: c || null}))),
          el('thead', {}, el('tr', {}, el('th', {scope: 'col', colspan: 2}, 'fails: ', d.failing.trace), el('td', {}), el('th', {scope: 'col', colspan: 2}, 'passes: ', d.passing.trace), el('th', {scope: 'col', class: 'where'}, 'at'))),
          this.body)));
    this.body.append(...d.rows.map((r) => this.row(r)));
    document.addEventListener('keydown', (e) => {
      const by = {j: 1, ArrowDown: 1, k: -1, ArrowUp: -1}[e.key];
      if (!by || e.ctrlKey || e.metaKey || e.altKey) return;
      e.preventDefault();
      this.move(by);
    });
  }

  // told says what differs first.
  told(d) {
    const parts = [], add = (name, ...lines) => parts.push(el('dt', {}, name), el('dd', {}, lines.map((l) => el('div', {}, l))));
    const fails = (...t) => el('span', {class: 'fails'}, ...t), passes = (...t) => el('span', {class: 'passes'}, ...t);
    const other = (e, none) => passes('passes: ', e ? sentence(e) : none);
    add('ending', fails('fails: ', d.failing.ending), passes('passes: ', d.passing.ending));
    add('order', d.same > 0 ? `after ${count(d.same, 'equal event')}` : 'from the beginning',
      fails('fails: ', d.order.failing ? sentence(d.order.failing) : 'it has ended'), other(d.order.passing, 'it has ended'));
    if (d.value) {
      const wrote = (e) => e ? `, after ${sentence(e)}` : '';
      add('value', fails('fails: ', sentence(d.value.failing), wrote(d.value.wrote.failing)), passes('passes: ', sentence(d.value.passing), wrote(d.value.wrote.passing)));
    }
    for (const s of d.stops) add('failure', fails('fails: ', s.failing), other(s.passing, `${s.thread} does nothing more there`));
    return parts;
  }

  row(r) {
    if (r.kind === 'fold') return this.fold(r);
    const away = (e) => r.waits ? `${r.passing.thread} waits` : e ? `${r.later ? '↓' : '↑'} ${number(e)}${r.differs ? `: ${e.text}` : ''}` : '';
    const mark = {failing: '<', passing: '>', value: '≠'}[r.kind] ?? '';
    const side = (e, name) => [el('td', {class: 'count'}, number(e)), el('td', {class: e ? name : `${name} away`}, e ? text(e) : away(r.there))];
    return el('tr', {class: r.kind}, side(r.failing, 'left'), el('td', {class: 'sign'}, mark), side(r.passing, 'right'), el('td', {class: 'where'}, (r.failing ?? r.passing).where ?? ''));
  }

  // fold is a row that its own rows replace.
  fold(r) {
    const parts = [[r.equal, 'equal'], [r.values, 'with another value'], [r.events - (r.equal ?? 0) - (r.values ?? 0), 'in one column only']]
      .filter(([n]) => n > 0).map(([n, what]) => `${n.toLocaleString('en')} ${what}`);
    const label = r.equal === r.events ? `… ${count(r.events, 'equal event')}` : `… ${count(r.events, 'row')}: ${parts.join(', ')}`;
    const line = el('tr', {class: 'fold'}, el('td', {colspan: 6}, el('button', {onclick: () => {
      const rows = r.rows ?? [], shown = rows.slice(0, most).map((x) => this.row(x));
      if (rows.length > most) shown.push(this.fold({kind: 'fold', events: rows.length - most, rows: rows.slice(most)}));
      line.replaceWith(...shown);
    }}, label)));
    return line;
  }

  // move selects the next row that differs, or the one before.
  move(by) {
    const rows = [...this.body.querySelectorAll('.failing, .passing, .value')];
    const now = rows.findIndex((r) => r.getAttribute('aria-selected') === 'true');
    const next = rows[now < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, now + by))];
    if (!next) return;
    if (now >= 0) rows[now].removeAttribute('aria-selected');
    next.setAttribute('aria-selected', 'true');
    next.scrollIntoView({block: 'nearest'});
  }
}

begin((data) => new Beside(data));
