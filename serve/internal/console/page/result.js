// What came of a statement: facts, and the rows as table, chart and map.

import {$, el, show, visible, number, many, time} from "./dom.js";
import {charged, costInWords} from "./cost.js";
import {Chart, chartable} from "./chart.js";
import {drawMap, places} from "./map.js";
import {csv} from "./csv.js";

const pageSize = 100;

export class Result {
  constructor() {
    this.shown = null;
    this.domains = [];
    this.tab = "table";
  }

  clear() {
    this.shown = null;
    show($("result"));
  }

  show(result) {
    this.shown = result;
    this.page = 0;
    const numeric = result.columns.map((_, i) => result.rows.some(r => typeof r[i] === "number") && result.rows.every(r => r[i] === null || typeof r[i] === "number"));
    this.numeric = numeric;
    this.places = places(result);
    const tabs = [{id: "table", label: "Table", draw: box => this.drawTable(box)}];
    if (chartable(result, numeric)) {
      const chart = new Chart(result, numeric);
      tabs.push({id: "chart", label: "Chart", draw: box => chart.draw(box)});
    }
    if (this.places) tabs.push({id: "map", label: "Map", draw: box => drawMap(box, this.places, this.domains)});
    // A heat map in a cell says nothing to a reader.
    if (this.places?.cells.length && result.count === 1) this.tab = "map";
    if (!tabs.some(t => t.id === this.tab)) this.tab = "table";
    this.panel = el("div", {id: "panel", role: "tabpanel", "aria-labelledby": "tab-" + this.tab, tabindex: "-1"});
    const list = el("div", {role: "tablist", "aria-label": "Show the result as", class: "tabs", keydown: event => this.key(event, tabs)},
      tabs.map(t => el("button", {type: "button", role: "tab", id: "tab-" + t.id, "aria-controls": "panel", click: () => this.open(t)}, t.label)));
    show($("result"), el("div", {class: "result-head"}, el("h2", {class: "sr"}, "Result"), list, this.facts(result), result.columns.length ? el("button", {type: "button", class: "download", title: "Download the rows of this table", click: () => download(csv(result))}, "CSV") : null), ...this.notes(result), this.panel);
    this.open(tabs.find(t => t.id === this.tab));
  }

  // age says that what is shown is not of the last statement.
  age() {
    if (this.shown && !$("aged")) $("result").prepend(el("p", {id: "aged", class: "aged faint"}, "This is the answer to the previous statement."));
  }

  open(tab) {
    this.tab = tab.id;
    for (const button of $("result").querySelectorAll("[role=tab]")) {
      const chosen = button.id === "tab-" + tab.id;
      button.setAttribute("aria-selected", String(chosen));
      button.tabIndex = chosen ? 0 : -1;
    }
    this.panel.setAttribute("aria-labelledby", "tab-" + tab.id);
    show(this.panel);
    tab.draw(this.panel);
  }

  key(event, tabs) {
    const at = tabs.findIndex(t => t.id === this.tab), last = tabs.length - 1;
    const to = {ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.open(tabs[to]);
    $("tab-" + tabs[to].id).focus();
  }

  facts(result) {
    const r = result.report;
    const facts = [many(result.count, "row", "rows"), `${number(result.millis)} ms`];
    const all = facts.map(f => el("span", {}, f));
    if (charged(r).length) all.push(el("span", {class: "tag spent-tag"}, "cost " + costInWords(r)));
    else if (r.answers) all.push(el("span", {class: "tag free-tag"}, "free"));
    if (r.remembered) all.push(el("span", {class: "tag free-tag"}, `${number(r.remembered)} of ${many(r.answers, "answer", "answers")} remembered` + (r.drawn ? `, from ${time(r.drawn)}` : "")));
    if (r.left_out) all.push(el("span", {class: "tag spent-tag"}, `${many(r.left_out, "account", "accounts")} left out`));
    if (r.radius) all.push(el("span", {}, `95 % within ± ${number(r.radius)} ${visible(r.unit)}`));
    return el("p", {class: "run-facts"}, all);
  }

  notes(result) {
    const notes = result.notices.map(n => el("p", {class: "notice"}, visible(n.message), n.detail ? " " + visible(n.detail) : "", n.hint ? el("span", {class: "faint"}, " " + visible(n.hint)) : null));
    if (result.more) notes.push(el("p", {class: "notice"}, `Only the first ${number(result.count)} rows are shown. Rows after them were not asked for, and cost nothing. Narrow the statement to see others.`));
    if (result.cut) notes.push(el("p", {class: "notice"}, `${many(result.cut, "text is", "texts are")} too long, and cut.`));
    return notes;
  }

  drawTable(box) {
    const {columns, rows} = this.shown;
    if (!columns.length) return show(box, el("p", {class: "faint pad"}, "Done. The statement has no columns."));
    if (!rows.length) return show(box, el("p", {class: "faint pad"}, "No rows. Nothing fits the statement, or groups without values were dropped."));
    const pages = Math.ceil(rows.length / pageSize);
    this.page = Math.min(this.page, pages - 1);
    const first = this.page * pageSize, some = rows.slice(first, first + pageSize), within = this.shown.within;
    const table = el("table", {class: "rows"},
      el("thead", {}, el("tr", {}, columns.map((c, i) => el("th", {scope: "col", class: (this.numeric[i] ? "right " : "") + (c.name.length > narrow / 2 ? "wrap" : "")}, visible(c.name), el("span", {class: "type"}, visible(c.type)))))),
      el("tbody", {}, some.map((row, k) => el("tr", {}, row.map((v, i) => cell(v, this.numeric[i], within?.[first + k][i]))))));
    const scroller = el("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Rows"}, table);
    const step = by => { this.page += by; this.drawTable(box); box.querySelector(by > 0 ? ".next-page:not(:disabled), .previous-page" : ".previous-page:not(:disabled), .next-page")?.focus(); };
    const pager = pages > 1 ? el("div", {class: "bar pager"},
      el("button", {type: "button", class: "previous-page", disabled: this.page === 0, click: () => step(-1)}, "Previous"),
      el("span", {role: "status"}, `${number(first + 1)} to ${number(first + some.length)} of ${number(rows.length)}`),
      el("button", {type: "button", class: "next-page", disabled: this.page === pages - 1, click: () => step(1)}, "Next")) : null;
    show(box, scroller, pager);
  }
}

// download saves a text as a file. It stays in the browser.
function download(text) {
  const url = URL.createObjectURL(new Blob([text], {type: "text/csv"}));
  el("a", {href: url, download: "answer.csv"}).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

const longest = 300, narrow = 48; // characters of a text that is shown whole, and on one line

function cell(v, numeric, within) {
  if (v === null) return el("td", {class: "null"}, "NULL");
  if (typeof v === "object") return el("td", {class: "null", title: v.hex}, many(v.bytes, "byte", "bytes"));
  if (numeric) return el("td", {class: "right"}, String(v), within ? el("span", {class: "faint", title: "so far from the truth with probability 0.95"}, " " + within) : null);
  const text = visible(v);
  if (text.length <= longest) return el("td", {class: text.length > narrow ? "wrap" : null}, text);
  return el("td", {class: "wrap"}, el("details", {class: "long"}, el("summary", {}, text.slice(0, 120) + "…"), text.slice(0, 100_000) + (text.length > 100_000 ? "…" : "")));
}
