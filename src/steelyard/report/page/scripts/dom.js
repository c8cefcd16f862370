// Elements are created node by node: names are untrusted text and are never parsed as HTML.

const SVG_NAMESPACE = 'http://www.w3.org/2000/svg';

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
  node.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return node;
}

function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);
}

function show(node, ...children) {
  node.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
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
  byId('tooltip').hidden = true;
}
