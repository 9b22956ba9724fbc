// Elements are made of names and texts here, and never of markup: texts of the database stay texts.

const svgNamespace = "http://www.w3.org/2000/svg";

export const $ = id => document.getElementById(id);

// el makes an element. Functions among its properties listen to events; null children are left out.
export function el(tag, properties = {}, ...children) {
  return fill(document.createElement(tag), properties, children);
}

// svg makes an element of a picture.
export function svg(tag, properties = {}, ...children) {
  return fill(document.createElementNS(svgNamespace, tag), properties, children);
}

function fill(node, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false));
  return node;
}

export function show(node, ...children) {
  node.replaceChildren(...children.flat().filter(child => child !== null && child !== undefined && child !== false));
}

// What is invisible, or turns the direction of writing, is written as an escape.
const invisible = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

export function visible(text) {
  return String(text).replace(invisible, c => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

// sentence begins a text with a capital letter, unless its first word is a name.
export function sentence(text) { return visible(text).replace(/^[a-z](?=[a-z]* )/, c => c.toUpperCase()); }

// say tells those who listen to the page.
export function say(text) {
  const live = $("live");
  live.textContent = "";
  setTimeout(() => { live.textContent = text; }, 50);
}

const whole = new Intl.NumberFormat("en", {maximumFractionDigits: 0});
const precise = new Intl.NumberFormat("en", {maximumSignificantDigits: 6});

export function number(x) {
  if (Number.isInteger(x) && Math.abs(x) < 1e15) return whole.format(x);
  const size = Math.abs(x);
  return size !== 0 && (size >= 1e12 || size < 1e-4) ? String(Number(x.toPrecision(6))) : precise.format(x);
}

export function many(n, one, more) { return `${number(n)} ${n === 1 ? one : more}`; }

export function time(iso) {
  return new Date(iso).toLocaleString("en-GB", {dateStyle: "medium", timeStyle: "short"});
}

// bar is a bar that is filled up to a part, and from there up to another one.
export function bar(label, part, next = part) {
  const width = x => `${(100 * Math.min(1, Math.max(0, x))).toFixed(2)}%`;
  const node = svg("svg", {class: "meter", role: "img", "aria-label": label, width: "100%", height: 10},
    svg("rect", {class: "rest", width: "100%", height: 10, rx: 5}),
    next > part ? svg("rect", {class: "next", width: width(next), height: 10, rx: 5}) : null,
    part > 0 ? svg("rect", {class: part >= 0.9 ? "spent nearly" : "spent", width: width(part), height: 10, rx: 5}) : null);
  return node;
}

// empty is what stands where there is nothing yet.
export function empty(title, text, ...more) {
  return el("div", {class: "empty"}, el("p", {class: "empty-title"}, title), el("p", {class: "faint"}, text), ...more);
}

// ask opens a dialog and returns the value of the button that closed it; Escape is "".
export function ask(title, body, buttons) {
  return new Promise(resolve => {
    const dialog = el("dialog", {"aria-labelledby": "dialog-title", close: () => { resolve(""); dialog.remove(); }},
      el("h2", {id: "dialog-title"}, title), el("div", {class: "dialog-body"}, body),
      el("div", {class: "bar end"}, buttons.map(b => el("button", {
        type: "button", class: b.primary ? "primary" : b.danger ? "danger" : null, autofocus: b.focus,
        // Closing is told of later only, and what follows shall begin at once.
        click: () => { resolve(b.value); dialog.close(); },
      }, b.label))));
    document.body.prepend(dialog);
    dialog.showModal();
  });
}

export const openDialog = () => document.querySelector("dialog[open]");
