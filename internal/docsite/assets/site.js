"use strict";
const base = document.body.dataset.base, root = document.documentElement;
const $ = id => document.getElementById(id);

$("theme").addEventListener("click", () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  try { localStorage.setItem("heddle-theme", root.dataset.theme); } catch {}
});

$("menu").addEventListener("click", () => {
  const open = $("topics").classList.toggle("open");
  $("menu").setAttribute("aria-expanded", open);
});
document.querySelector("#topics [aria-current]")?.scrollIntoView({ block: "center" });
if (!location.hash) scrollTo(0, 0);

// The list beside the page follows the text.
const items = [...document.querySelectorAll("aside a")];
const heads = items.map(a => $(decodeURIComponent(a.hash.slice(1))));
function follow() {
  let here = -1;
  heads.forEach((h, i) => { if (h && h.getBoundingClientRect().top < 120) here = i; });
  items.forEach((a, i) => a.classList.toggle("here", i === here));
}
addEventListener("scroll", follow, { passive: true });
follow();

// Search. The index is a script, loaded when it is first needed.
const query = $("query"), results = $("results");
let loading, chosen = 0;
function load() {
  return loading ??= new Promise((done, failed) => {
    const script = document.createElement("script");
    script.src = base + "search-index.js";
    script.onload = done;
    script.onerror = failed;
    document.head.append(script);
  });
}
const plain = s => s.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

// score is 0 if a section lacks a word. Titles count more than text, and whole words more than beginnings.
function score(section, words) {
  let sum = 0;
  for (const w of words) {
    const whole = new RegExp("(^|[^\\p{L}\\d])" + plain(w) + "($|[^\\p{L}\\d])", "iu");
    const t = section.t.toLowerCase(), p = section.p.toLowerCase(), x = section.x.toLowerCase();
    let s = 0;
    if (t.includes(w)) s += whole.test(t) ? 40 : 20;
    if (p.includes(w)) s += 8;
    const n = x.split(w).length - 1;
    if (n) s += (whole.test(x) ? 6 : 2) + Math.min(n, 5);
    if (!s) return 0;
    sum += s;
  }
  return sum;
}

function marked(text, words) {
  const out = document.createDocumentFragment();
  const at = new RegExp("(" + words.map(plain).join("|") + ")", "gi");
  text.split(at).forEach((part, i) => {
    if (i % 2) { const m = document.createElement("mark"); m.textContent = part; out.append(m); } else out.append(part);
  });
  return out;
}

function excerpt(text, words) {
  const lower = text.toLowerCase();
  const at = Math.max(0, Math.min(...words.map(w => lower.indexOf(w)).filter(i => i >= 0), text.length) - 50);
  if (at >= text.length) return text.slice(0, 130);
  return (at ? "…" : "") + text.slice(at, at + 130) + (at + 130 < text.length ? "…" : "");
}

async function search() {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  results.hidden = !words.length;
  if (!words.length) return;
  await load();
  const found = window.searchIndex.map(s => [score(s, words), s]).filter(([n]) => n).sort((a, b) => b[0] - a[0]).slice(0, 12);
  chosen = 0;
  results.replaceChildren(...found.map(([, s], i) => {
    const a = document.createElement("a"), small = document.createElement("small");
    a.href = base + s.u;
    a.classList.toggle("chosen", i === 0);
    a.append(marked(s.t === s.p ? s.t : s.p + " › " + s.t, words), small);
    small.append(marked(excerpt(s.x, words), words));
    return a;
  }));
  if (!found.length) {
    const p = document.createElement("p");
    p.textContent = "Nothing found";
    results.append(p);
  }
}
query.addEventListener("focus", load);
query.addEventListener("input", search);
query.addEventListener("keydown", e => {
  const all = results.querySelectorAll("a");
  if (e.key === "Escape") { query.value = ""; results.hidden = true; query.blur(); }
  if (e.key === "Enter" && all[chosen]) all[chosen].click();
  if ((e.key === "ArrowDown" || e.key === "ArrowUp") && all.length) {
    e.preventDefault();
    all[chosen].classList.remove("chosen");
    chosen = (chosen + (e.key === "ArrowDown" ? 1 : all.length - 1)) % all.length;
    all[chosen].classList.add("chosen");
    all[chosen].scrollIntoView({ block: "nearest" });
  }
});
document.addEventListener("click", e => { if (!e.target.closest(".search")) results.hidden = true; });
document.addEventListener("keydown", e => {
  if (e.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) { e.preventDefault(); query.focus(); }
});
