// The editor: a textarea with coloured words behind it and a listbox of completions.

import {$, el, show, visible} from "./dom.js";
import {scan, colour, complete, callAt} from "./sql.js";

export class Editor {
  constructor() {
    this.area = $("sql");
    this.mirror = $("mirror");
    this.list = $("completions");
    this.schema = {tables: [], functions: [], domains: []};
    this.functions = new Map();
    this.options = [];
    this.chosen = -1;
    this.fault = 0; // position of an error, from 1
    this.area.addEventListener("input", () => { this.fault = 0; this.paint(); this.suggest(false); });
    this.area.addEventListener("keydown", event => this.key(event));
    this.area.addEventListener("blur", () => this.close());
    document.addEventListener("selectionchange", () => {
      if (document.activeElement === this.area) this.hint();
    });
    this.paint();
  }

  get value() { return this.area.value; }

  set value(text) {
    this.area.value = text;
    this.fault = 0;
    this.close();
    this.paint();
  }

  setSchema(schema) {
    this.schema = schema;
    this.functions = new Map(schema.functions.map(f => [f.name.toLowerCase(), f]));
    this.paint();
  }

  // mark marks the place of an error. Positions count characters, texts have units of 16 bits.
  mark(position) {
    this.fault = position;
    this.paint();
  }

  placeOf(position) { return [...this.value].slice(0, position - 1).join("").length; }

  goTo(position) {
    const at = this.placeOf(position);
    this.area.focus();
    this.area.setSelectionRange(at, at);
  }

  paint() {
    const fault = this.fault ? this.placeOf(this.fault) : -1;
    const parts = scan(this.value).map(token => {
      let name = "t-" + colour(token, this.functions);
      if (fault >= token.at && fault < token.at + token.text.length) name += " t-fault";
      return el("span", {class: name}, token.text);
    });
    show(this.mirror, ...parts, "\n");
  }

  // hint shows the signature of the function that the caret is in.
  hint() {
    const f = this.functions.get(callAt(this.value, this.area.selectionStart));
    show($("signature"), ...(f ? [el("code", {}, visible(f.signatures.join("   "))), " ", visible(f.does)] : []));
  }

  suggest(asked) {
    this.hint();
    const at = this.area.selectionStart;
    if (at !== this.area.selectionEnd) return this.close();
    const {from, options} = complete(this.value, at, this.schema, asked);
    this.from = from;
    this.options = options;
    if (!options.length) return this.close();
    show(this.list, ...options.map((o, i) => el("li", {
      id: "option-" + i, role: "option", class: "k-" + o.kind, "aria-selected": "false",
      // Not click: the textarea would lose the focus first.
      mousedown: event => { event.preventDefault(); this.choose(i); this.accept(); },
    }, el("span", {class: "o-name"}, visible(o.name)), el("span", {class: "o-info"}, visible(o.info)))));
    this.place();
    this.list.hidden = false;
    this.area.setAttribute("aria-expanded", "true");
    this.steered = asked;
    this.choose(0);
  }

  // place puts the list under the word.
  place() {
    const range = document.createRange();
    let left = this.from, node = null;
    for (const span of this.mirror.childNodes) {
      node = span.nodeType === Node.TEXT_NODE ? span : span.firstChild;
      if (left < node.data.length || span === this.mirror.lastChild) break;
      left -= node.data.length;
    }
    range.setStart(node, Math.min(left, node.data.length));
    range.collapse(true);
    const outer = this.mirror.parentElement.getBoundingClientRect();
    const box = range.getClientRects()[0] ?? range.getBoundingClientRect();
    const width = Math.min(448, outer.width - 16);
    this.list.style.width = width + "px";
    this.list.style.left = Math.max(8, Math.min(box.left - outer.left, outer.width - width - 8)) + "px";
    this.list.style.top = box.bottom - outer.top + 4 + "px";
  }

  choose(i) {
    this.list.children[this.chosen]?.setAttribute("aria-selected", "false");
    this.chosen = (i + this.options.length) % this.options.length;
    const option = this.list.children[this.chosen];
    option.setAttribute("aria-selected", "true");
    option.scrollIntoView({block: "nearest"});
    this.area.setAttribute("aria-activedescendant", option.id);
  }

  accept() {
    const o = this.options[this.chosen];
    const end = this.area.selectionEnd;
    let text = o.text;
    if (text.endsWith("(") && this.value[end] === "(") text = text.slice(0, -1);
    this.area.focus();
    this.area.setSelectionRange(this.from, end);
    // The command keeps the way back with Ctrl+Z.
    if (!document.execCommand("insertText", false, text)) this.area.setRangeText(text, this.from, end, "end");
    this.close();
    this.paint();
    this.hint();
  }

  close() {
    this.list.hidden = true;
    this.chosen = -1;
    this.area.setAttribute("aria-expanded", "false");
    this.area.removeAttribute("aria-activedescendant");
  }

  get isOpen() { return !this.list.hidden; }

  key(event) {
    if (event.isComposing) return;
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      return this.suggest(true);
    }
    if (!this.isOpen || !plain) return;
    // Enter ends the line unless the reader has turned to the list, which opens by itself.
    if (event.key === "Enter" && !this.steered) return this.close();
    const does = {
      ArrowDown: () => { this.choose(this.steered ? this.chosen + 1 : Math.min(1, this.options.length - 1)); this.steered = true; },
      ArrowUp: () => { this.choose(this.chosen - 1); this.steered = true; },
      Enter: () => this.accept(),
      Tab: () => this.accept(),
      Escape: () => this.close(),
    };
    if (["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key)) return this.close();
    if (!Object.hasOwn(does, event.key) || event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    does[event.key]();
  }
}
