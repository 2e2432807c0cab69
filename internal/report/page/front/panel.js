// The panel beside the table: what is known at the selected event.
import {el, hex, hover} from './dom.js';

const mostValues = 40;

// panel returns the elements that describe event e of a pane.
export function panel(page, pane, e) {
  const {run} = pane;
  const end = e >= run.events;
  return [
    source(page, pane, e, end),
    end && page.data.explanation ? ending(page, pane) : null,
    values(page, pane, Math.min(e, run.events - 1)),
    locks(page, pane, Math.min(e, run.events - 1)),
  ];
}

function section(title, label, ...children) {
  return el('section', {class: `part ${label}`, 'aria-label': title}, el('h3', {}, title), ...children);
}

// source shows the lines around an event, and the call stack, each frame of which shows its own lines.
function source(page, pane, e, end) {
  const {run} = pane, f = run.json.failure;
  const frames = end ? (f?.stack ?? []) : run.shown(e) ? run.stack(e) : [];
  const at = end ? run.json.places[f?.place ?? 0] : run.shown(e) ? run.place(e) : run.json.places[0];
  const stack = frames.map((n) => run.json.places[n]);
  const code = el('div', {class: 'code', role: 'group', 'aria-label': 'source'});
  const list = el('ol', {class: 'stack', 'aria-label': 'call stack'});
  const show = (place) => {
    code.replaceChildren(...lines(run, place));
    for (const x of list.children) x.classList.toggle('current', x.place === place);
    code.querySelector('.here')?.scrollIntoView({block: 'nearest'});
  };
  for (const place of stack) {
    const item = el('li', {}, el('button', {onclick: () => show(place)}, el('b', {}, place.func ?? place.label), place.func ? ` ${place.label}` : ''));
    item.place = place;
    list.append(item);
  }
  const head = end ? run.json.ending : run.shown(e) ? `${run.label(run.thread(e))}: ${run.text(e)}` : '';
  const object = end || !run.shown(e) ? -1 : run.object(e);
  const out = section(end ? 'The end' : `Event ${e.toLocaleString('en')}`, 'source',
    el('p', {class: 'what', title: end || !run.shown(e) ? null : hover(head, run.size(e))}, head),
    el('p', {class: 'do'},
      object >= 0 ? el('button', {onclick: () => page.toggleFollow()}, pane.follow >= 0 ? 'stop following' : `follow ${run.name(object)}`) : null,
      pane === page.panes[0] ? debuggers(page, run, e, end) : null),
    code, stack.length > 1 ? list : null);
  show(stack.find((p) => p === at) ?? at);
  return out;
}

// debuggers are buttons that copy the command which opens a debugger at an event.
function debuggers(page, run, e, end) {
  return (page.data.commands ?? []).filter((c) => c.at).map((c) => {
    const text = end ? c.text : c.at.replace('EVENT', e);
    return el('button', {title: `copies: ${text}`, onclick: () => page.copy(text)}, `debug ${end ? '' : 'here '}${c.does}`);
  });
}

function lines(run, place) {
  if (!place.line) return [el('p', {class: 'none'}, place.label === '?' ? 'No source line is known here.' : `${place.label}: no source line is known.`)];
  const found = run.source(place, 7);
  if (found.length === 0) return [el('p', {class: 'none'}, `${place.file}:${place.line} was not there when this page was made.`)];
  return [el('p', {class: 'file'}, place.file), el('div', {class: 'lines'}, found.map(({number, text}) => el('div', {class: number === place.line ? 'line here' : 'line'},
    el('span', {class: 'ln'}, number), text.replaceAll('\t', '    ') || ' ')))];
}

function ending(page, pane) {
  const f = pane.run.json.failure;
  if (!f) return null;
  const items = [
    ...(f.object ? [el('li', {}, f.object)] : []),
    ...(f.waits ?? []).map((w) => waits(page, pane, w)),
    ...(f.sides ?? []).map((s) => el('li', {}, s.event >= 0 ? el('button', {onclick: () => page.select(pane, s.event, true)}, s.text) : s.text)),
  ];
  return items.length > 0 ? section('What is known', 'known', el('ul', {}, items)) : null;
}

// waits shows a thread that had not ended, with the event since which it waits and its callers.
function waits(page, pane, w) {
  const {places} = pane.run.json, at = w.place > 0 ? ` at ${places[w.place].label}` : '', callers = (w.stack ?? []).map((p) => places[p]);
  return el('li', {}, w.text + at, w.since >= 0 ? [', since ', el('button', {onclick: () => page.select(pane, w.since, true)}, `event ${w.since.toLocaleString('en')}`)] : null,
    callers.length > 1 ? el('details', {}, el('summary', {}, 'call stack'), el('ol', {class: 'stack'}, callers.map((p) => el('li', {}, el('b', {}, p.func ?? p.label), p.func ? ` ${p.label}` : '')))) : null);
}

// values shows the memory that threads share, as the events so far have shown it.
function values(page, pane, e) {
  const {run} = pane, {known, changed} = run.values(e);
  const rows = known.filter((k) => run.json.objects[k.object].memory === 1)
    .sort((a, b) => b.event - a.event).slice(0, mostValues)
    .map((k) => {
      const now = changed && changed.object === k.object;
      return el('tr', {class: now ? 'changed' : pane.follow >= 0 && run.overlap(k.object, pane.follow) ? 'followed' : null},
        el('th', {scope: 'row'}, run.name(k.object)),
        el('td', {title: hex(k.value, run.json.objects[k.object].size) || null}, now && changed.before !== '' ? [el('s', {}, changed.before), ' '] : null, k.value),
        el('td', {class: 'since'}, el('button', {'aria-label': `event ${k.event}`, onclick: () => page.select(pane, k.event, true)}, `T${run.thread(k.event)} #${k.event.toLocaleString('en')}`)));
    });
  return rows.length > 0 ? section('Values', 'values', el('table', {}, el('tbody', {}, rows))) : null;
}

function locks(page, pane, e) {
  const {run} = pane;
  const rows = run.held(e).map((h) => el('li', {}, el('b', {}, run.name(h.object)), ` held by ${run.label(h.thread)}${h.shared ? ' for reading' : ''}${h.times > 1 ? `, ${h.times} times` : ''}`));
  return rows.length > 0 ? section('Locks', 'locks', el('ul', {}, rows)) : null;
}
