// Elements are created node by node: names are untrusted text and are never parsed as HTML.

const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';

/** @param {string} id @returns {any} */
function byId(id) {
  return document.getElementById(id);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else if (name === 'width%') node.style.width = `${value}%`;
    else node.setAttribute(name, value === true ? '' : String(value));
  }
  // Strings become text nodes.
  node.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** @param {string} tag @param {Record<string, any>} [attributes] @param {...any} children @returns {any} */
function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** @param {string} tag @param {Record<string, any>} [attributes] @param {...any} children @returns {any} */
function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);
}

/** @param {any} node @param {...any} children */
function show(node, ...children) {
  node.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

// What an element shows, by a key that its painter chose.
const shownKeys = new WeakMap();

// Draw the content of an element, unless it is drawn already.
function showOnce(node, key, make) {
  if (shownKeys.get(node) === key) return;
  shownKeys.set(node, key);
  show(node, make());
}

// Draw; if the focused element is drawn again, the new one has the focus.
function keepFocus(draw) {
  const find = finderOf(document.activeElement);
  draw();
  if (document.activeElement === document.body) find()?.focus({ preventScroll: true });
}

// A function that finds an element again: by its id, as a button of a rule, or by its text at the same place.
function finderOf(node) {
  if (!node || node === document.body) return () => null;
  if (node.id) return () => byId(node.id);
  const rule = node.closest('#rules [data-rule]')?.dataset.rule;
  if (rule !== undefined) {
    const place = `#rules [data-rule="${CSS.escape(rule)}"]`;
    // A rule may have other buttons than before.
    return () => document.querySelector(`${place} [data-action="${CSS.escape(node.dataset.action ?? '')}"]`) ?? document.querySelector(`${place} [data-action]`);
  }
  const [place, tag] = [node.closest('[id]')?.id, node.tagName];
  const name = (one) => `${one.getAttribute('aria-label')} ${one.textContent}`;
  return () => [...(byId(place)?.querySelectorAll(tag) ?? [])].find((one) => name(one) === name(node)) ?? null;
}

// After the browser has painted, and once it has nothing more urgent to do.
function afterPaint() {
  return new Promise((resolve) => {
    requestAnimationFrame(() => {
      if (window.requestIdleCallback) window.requestIdleCallback(resolve, { timeout: 100 });
      else setTimeout(resolve, 0);
    });
  });
}

// A button with a text; `attributes` may add more.
function button(text, onclick, attributes = {}) {
  return el('button', { type: 'button', onclick, ...attributes }, text);
}

// A part that scrolls by itself, which keys must reach.
function scroller(label, child, kind = '') {
  return el('div', { class: `scroll ${kind}`, tabindex: 0, role: 'region', 'aria-label': label }, child);
}

// Names may contain characters that change the direction of writing; they must not affect their surroundings.
function nameNode(name, tag = 'bdi') {
  return tag === 'bdi' ? el('bdi', {}, name) : el(tag, {}, el('bdi', {}, name));
}

const DIRECTED = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

// The same for places that hold plain text only, such as options and tooltips.
function nameText(name) {
  return DIRECTED.test(name) ? `\u2068${name}\u2069` : name;
}

function fillSelect(select, options, chosen) {
  show(select, options.map(([value, text]) => el('option', { value, selected: value === chosen }, text)));
  select.value = chosen;
}

// One tooltip for the whole page; it follows the pointer inside the window.
function showTooltip(event, lines) {
  const tip = byId('tooltip');
  show(tip, lines.map((line, i) => el(i ? 'div' : 'strong', {}, line)));
  tip.hidden = false;
  const gap = 14;
  const { offsetWidth: width, offsetHeight: height } = tip;
  const left = Math.min(event.clientX + gap, document.documentElement.clientWidth - width - 6);
  const below = event.clientY + gap + height < window.innerHeight;
  tip.style.left = `${Math.max(6, left)}px`;
  tip.style.top = `${below ? event.clientY + gap : event.clientY - gap - height}px`;
}

function hideTooltip() {
  const tip = byId('tooltip');
  if (!tip.hidden) tip.hidden = true;
}

// Say something to screen readers without moving the focus.
function announce(text) {
  byId('announcer').textContent = text;
}
