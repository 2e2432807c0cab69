// Elements of the page. Text of a program only ever becomes text nodes and attributes here, never markup.

// begin makes the page of what page.go writes: JSON, compressed if it is long.
export function begin(page) {
  const node = document.getElementById('data'), text = node.textContent;
  const show = (json) => { window.heddle = page(JSON.parse(json)); };
  if (node.dataset.encoding !== 'gzip') return show(text);
  node.textContent = '';
  const coded = atob(text), bytes = new Uint8Array(coded.length);
  for (let i = 0; i < coded.length; i++) bytes[i] = coded.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text().then(show);
}

// el returns an element. Properties that begin with `on` are listeners, others attributes; null and false omit one.
export function el(tag, properties = {}, ...children) {
  const e = document.createElement(tag);
  set(e, properties);
  e.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== false));
  return e;
}

// svg is el for a drawing.
export function svg(tag, properties = {}, ...children) {
  const e = document.createElementNS('http://www.w3.org/2000/svg', tag);
  set(e, properties);
  e.append(...children);
  return e;
}

function set(e, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
    else e.setAttribute(name, value === true ? '' : value);
  }
}

// count is `1 event`, `12,345 events`.
export function count(n, what) {
  const many = what.endsWith('ch') ? what + 'es' : what + 's';
  return n.toLocaleString('en') + ' ' + (n === 1 ? what : many);
}

// hex is the integers among the values in a text in hexadecimal, `0x64, 0x65`, as they are in so many bytes; empty if there are none.
export function hex(text, size = 8) {
  const bits = [1, 2, 4, 8].includes(size) ? 8 * size : 64;
  const numbers = [...text.matchAll(/(?<=^|[←→…:,] |[(=])-?\d+(?![\w.])/g)].map(([n]) => n);
  if (numbers.every((n) => n.length === 1)) return ''; // the same in both
  return numbers.map((n) => '0x' + BigInt.asUintN(Math.max(bits, BigInt(n) >= 1n << BigInt(bits) ? 64 : 0), BigInt(n)).toString(16)).join(', ');
}

// hover is a text with its values in hexadecimal.
export function hover(text, size) { const h = hex(text, size); return h ? `${text}  (${h})` : text; }
