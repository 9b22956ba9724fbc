// The page of the query: what there is to ask, the statement, its cost, and what came of it.

import {$, el, show, say, visible, sentence, many, ask, openDialog, empty} from "./dom.js";
import {get, post} from "./api.js";
import {Editor} from "./editor.js";
import {describe} from "./sql.js";
import {Result} from "./result.js";
import {charged, costInWords, costBody} from "./cost.js";

export class Query {
  constructor() {
    this.editor = new Editor();
    this.result = new Result();
    this.running = false;
    this.ticker = 0;
    $("ask").addEventListener("submit", event => { event.preventDefault(); this.run(); });
    $("cost").addEventListener("click", () => this.cost());
    $("cancel").addEventListener("click", () => this.cancel());
    $("save").addEventListener("click", () => this.save());
    document.addEventListener("keydown", event => {
      if ($("query").hidden || $("app").hidden || openDialog()) return;
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        this.editor.close();
        this.run();
      } else if (event.key === "Escape" && this.running) {
        this.cancel();
      }
    });
    const wide = matchMedia("(min-width: 60rem)");
    const unfold = () => { $("schema").open = wide.matches; };
    wide.addEventListener("change", unfold);
    unfold();
    this.reset();
  }

  focus() { this.editor.area.focus(); }

  // reset forgets what a user has written and seen.
  reset() {
    this.editor.value = "";
    $("epsilon").value = "";
    $("database").textContent = "";
    this.clearFault();
    this.result.clear();
    this.setSchema({tables: [], functions: [], domains: [], examples: []}, null);
  }

  setSchema(schema, login) {
    this.schema = schema;
    this.login = login;
    this.saved = [];
    $("save").hidden = !login || login.owner;
    if (!$("save").hidden) this.loadSaved();
    this.editor.setSchema(schema);
    this.result.domains = schema.domains;
    this.showSchema();
    if (!this.result.shown) this.showExamples();
  }

  showSchema() {
    const tables = this.schema.tables.map(t => el("details", {class: "table", open: this.schema.tables.length < 6},
      el("summary", {}, el("span", {class: "table-name"}, visible(t.name)), el("span", {class: "faint"}, t.view ? " view" : "")),
      el("ul", {}, t.columns.map(c => el("li", {},
        el("button", {type: "button", class: "column", title: "Insert into the statement", click: () => this.insert(c.name)}, visible(c.name)),
        el("span", {class: c.sealed ? (c.sealed.granted ? "tag sealed" : "tag shut") : "faint"}, visible(c.sealed ? (c.sealed.granted ? `sealed · ${c.sealed.unit}` : "not granted") : c.type.toLowerCase())),
        c.sealed ? el("span", {class: "sr"}, visible(describe(c))) : null)))));
    const functions = this.schema.functions.filter(f => f.charges);
    const saved = this.saved.map(q => el("li", {class: "saved"},
      el("button", {type: "button", class: "column", title: visible(q.sql), click: () => { this.load(q); this.focus(); }}, visible(q.name)),
      el("button", {type: "button", class: "remove", "aria-label": "Remove " + visible(q.name), click: () => this.keep({...q, sql: ""})}, "×")));
    show($("schema-body"),
      saved.length ? el("details", {class: "table", id: "saved", open: true}, el("summary", {}, el("span", {class: "table-name plain"}, "Saved questions")), el("ul", {}, saved)) : null,
      tables.length ? tables : empty("No tables", "You may not read any table of this database."),
      functions.length ? el("details", {class: "table"},
        el("summary", {}, el("span", {class: "table-name plain"}, "Private functions")),
        el("ul", {class: "functions"}, functions.map(f => el("li", {},
          el("button", {type: "button", class: "column t-private", title: "Insert into the statement", click: () => this.insert(f.name + "(", true)}, visible(f.name)),
          el("span", {class: "faint"}, visible(f.does)))))) : null);
  }

  insert(text, exact = false) {
    const area = this.editor.area;
    area.focus();
    const name = exact || /^[a-z_][a-z0-9_]*$/i.test(text) ? text : `"${text.replaceAll('"', '""')}"`;
    if (!document.execCommand("insertText", false, name)) area.setRangeText(name, area.selectionStart, area.selectionEnd, "end");
    this.editor.close();
    this.editor.paint();
    this.editor.hint();
  }

  showExamples() {
    const examples = this.schema.examples.map(e => el("li", {},
      el("button", {type: "button", class: "example", click: () => { this.editor.value = e.sql; this.focus(); }},
        el("span", {}, visible(e.about)), el("code", {}, visible(e.sql)))));
    show($("result"), empty("No questions yet", "Answers about sealed columns have noise and spend people's budgets. The page shows the cost before it spends anything.",
      examples.length ? el("ul", {class: "examples"}, examples) : null));
  }

  // load puts a question in place of the statement.
  load({sql, epsilon = ""}) {
    this.editor.value = sql;
    $("epsilon").value = epsilon;
    this.clearFault();
  }

  async loadSaved() {
    const login = this.login;
    try {
      const {saved} = await get("/api/saved");
      if (login !== this.login) return;
      this.saved = saved;
      this.showSchema();
    } catch (fault) {
      if (fault.code === undefined) throw fault;
      if (login === this.login && !$("app").hidden) this.showFault(fault);
    }
  }

  // save asks for a name, and saves the question under it.
  async save() {
    const question = this.question();
    if (!question.sql.trim()) return this.focus();
    const name = el("input", {name: "question", autofocus: true, autocomplete: "off", maxlength: 80, keydown: event => {
      if (event.key !== "Enter") return;
      event.preventDefault(); // it would press the button that gets the focus
      name.closest("dialog").querySelector(".primary").click();
    }});
    const answer = await ask("Save the question", [el("label", {}, "Name ", name), el("p", {class: "faint"}, "Everybody with your role sees it. It replaces a question of the same name.")],
      [{label: "Do not save", value: ""}, {label: "Save", value: "save", primary: true}]);
    if (answer === "save" && name.value.trim()) await this.keep({...question, name: name.value.trim()});
  }

  // keep saves a question, or removes it if it has no SQL.
  async keep(question) {
    try {
      await post("/api/save", question);
      await this.loadSaved();
      say(question.sql ? `Saved as ${question.name}` : `Removed ${question.name}`);
    } catch (fault) {
      if (fault.code === undefined) throw fault;
      this.showFault(fault);
    }
  }

  question() { return {sql: this.editor.value, epsilon: $("epsilon").value.trim()}; }

  clearFault() {
    $("problem").hidden = true;
    show($("problem"));
    this.editor.mark(0);
  }

  showFault(fault) {
    const box = $("problem");
    const parts = [el("p", {class: "problem-title"}, sentence(fault.message))];
    if (fault.detail) parts.push(el("p", {}, visible(fault.detail)));
    if (fault.hint) parts.push(el("p", {class: "hint"}, visible(fault.hint)));
    if (fault.report) parts.push(el("p", {class: "hint"}, `Before that, ${costInWords(fault.report)} was spent.`));
    parts.push(el("p", {class: "code faint"}, /^[0-9A-Z]{5}$/.test(fault.code) ? `SQLSTATE ${fault.code}` : null,
      fault.position ? el("button", {type: "button", class: "link", click: () => this.editor.goTo(fault.position)}, "Go to the place") : null));
    show(box, ...parts);
    box.hidden = false;
    if (fault.position) this.editor.mark(fault.position);
    this.result.age();
    this.reveal(box);
  }

  begin(what) {
    if (this.running) return false;
    this.running = true;
    this.clearFault();
    const begun = performance.now();
    const tell = () => {
      const seconds = Math.floor((performance.now() - begun) / 1000);
      $("state").textContent = seconds ? `${what}, ${seconds} s` : what;
    };
    tell();
    this.ticker = setInterval(tell, 1000);
    $("run").disabled = $("cost").disabled = true;
    $("cancel").hidden = $("progress").hidden = false;
    return true;
  }

  end() {
    clearInterval(this.ticker);
    this.running = false;
    $("state").textContent = "";
    $("run").disabled = $("cost").disabled = false;
    const focused = document.activeElement === $("cancel") || document.activeElement === document.body;
    $("cancel").hidden = $("progress").hidden = true;
    if (focused && !$("query").hidden && !$("app").hidden) this.focus();
  }

  // cancel asks again until the statement has ended: a request that overtakes that of the statement finds nothing to cancel.
  async cancel() {
    const {ticker} = this;
    while (this.running && this.ticker === ticker) {
      $("state").textContent = "Canceling";
      await post("/api/cancel").catch(() => {});
      await new Promise(done => setTimeout(done, 200));
    }
  }

  // work does something that the user may cancel, and shows the fault that it ends with. It returns undefined then.
  async work(what, does) {
    if (!this.begin(what)) return undefined;
    try {
      return await does();
    } catch (fault) {
      if (fault.code === undefined) throw fault; // a fault of the page
      if (!$("app").hidden) this.showFault(fault);
      return undefined;
    } finally {
      this.end();
    }
  }

  // run runs what is free at once. What costs something is quoted and asked for first.
  async run() {
    const question = this.question();
    const result = await this.work("Running", async () => {
      try {
        return await post("/api/run", {...question, quote: ""});
      } catch (fault) {
        if (fault.code === "costs") return null;
        throw fault;
      }
    });
    if (result) this.finish(result);
    else if (result === null) await this.cost(question);
  }

  async cost(question = this.question(), changed = false) {
    let budgets = [];
    const quote = await this.work("Asking for the cost", async () => {
      const answer = await post("/api/quote", question);
      if (answer.charges && !this.login?.owner) ({budgets} = await get("/api/budgets"));
      return answer;
    });
    if (!quote || $("app").hidden) return;
    const title = !quote.charges ? "This is free" : changed ? "The cost has changed" : "What this costs";
    const answer = await ask(title, costBody(quote, budgets), quote.charges
      ? [{label: "Do not run", value: "", focus: true}, {label: "Spend and run", value: "run", primary: true}]
      : [{label: "Close", value: ""}, {label: "Run", value: "run", primary: true, focus: true}]);
    if (answer !== "run" || $("app").hidden) return;
    const result = await this.work("Running", async () => {
      try {
        return await post("/api/run", {...question, quote: quote.quote});
      } catch (fault) {
        if (fault.code === "cost_changed" || fault.code === "quote_unknown") return null;
        throw fault;
      }
    });
    if (result) this.finish(result);
    else if (result === null) await this.cost(question, true);
  }

  // reveal scrolls to what has come, on screens on which it is below the statement's end.
  reveal(box) {
    if (innerWidth < 960) box.scrollIntoView({block: "nearest"});
  }

  finish(result) {
    this.result.show(result);
    this.reveal($("result"));
    const of = charged(result.report).length ? ` It cost ${costInWords(result.report)}.` : "";
    say(`${many(result.count, "row", "rows")}.${of}`);
  }
}
