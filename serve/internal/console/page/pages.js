// The other pages: budgets, history, and roles.

import {$, el, svg, show, say, visible, sentence, number, many, time, bar, empty, ask} from "./dom.js";
import {get, post} from "./api.js";
import {costInWords} from "./cost.js";

// columnText shows a column of a role, which is TABLE.COLUMN or, if a name has a dot, both in an array.
const columnText = column => typeof column === "string" ? column : column.map(name => name.includes(".") ? `"${name}"` : name).join(".");

// load shows what a page has, or why it has nothing.
async function load(id, path, draw) {
  const body = $(id);
  body.setAttribute("aria-busy", "true");
  try {
    show(body, draw(await get(path)));
  } catch (fault) {
    if (fault.code === undefined) throw fault;
    show(body, el("div", {class: "card problem", role: "alert"}, el("p", {class: "problem-title"}, sentence(fault.message)), fault.hint ? el("p", {class: "hint"}, visible(fault.hint)) : null));
  } finally {
    body.removeAttribute("aria-busy");
  }
}

const per = unit => unit === "record" ? "record" : visible(unit);

export function showBudgets(login) {
  $("budgets-lead").textContent = login.owner
    ? "The limit of each role for every account, and its largest spending on one account."
    : "Your limit for every account, and your largest spending on one account. Repeated questions cost nothing.";
  $("left").hidden = !login.owner;
  if (login.owner) load("left-body", "/api/left", ({left}) => left.length ? left.map(showLeft) : empty("No questions yet", "All accounts have their whole limits."));
  return load("budgets-body", "/api/budgets", ({budgets}) => budgets.length ? budgets.map(b => {
    const text = `${b.most} of ${b.limit} is spent, ${b.left} is left`;
    return el("article", {class: "card budget"},
      el("h2", {}, "per ", per(b.unit), login.owner ? el("span", {class: "faint"}, " · " + visible(b.role)) : null),
      el("p", {class: "figure"}, b.left, el("span", {class: "faint"}, ` left of ${b.limit}`)),
      bar(text, b.part),
      el("dl", {class: "facts"},
        el("dt", {}, "Spent, at most"), el("dd", {}, b.most),
        el("dt", {}, "Accounts that paid"), el("dd", {}, b.accounts ? number(b.accounts) : "none yet"),
        el("dt", {}, "In one call"), el("dd", {}, b.call ? `at most ${b.call}` : "no bound")));
  }) : empty("No budgets", login.owner ? "There are no roles. Add one under Roles." : "Your role has no budget. Ask the owner for one."));
}

// showLeft draws how many accounts have how much of their limits in a unit left.
function showLeft({unit, accounts, tenths}) {
  const width = 300, height = 120, floor = 96, each = width / tenths.length, most = Math.max(...tenths);
  const name = i => i ? `${10 * (i - 1)} to ${10 * i} %` : "nothing";
  const full = tenths.flatMap((n, i) => n ? [`${many(n, "account has", "accounts have")} ${name(i)} left`] : []);
  const picture = svg("svg", {class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Of limits per ${per(unit)}, ${full.join(", ")}.`});
  tenths.forEach((n, i) => {
    const h = n ? Math.max(1, n / most * (floor - 8)) : 0;
    picture.append(svg("rect", {class: "column-bar", x: i * each + 2, y: floor - h, width: each - 4, height: h, rx: 2}, svg("title", {}, `${name(i)}: ${number(n)}`)));
  });
  picture.append(svg("line", {class: "axis", x1: 0, x2: width, y1: floor, y2: floor}));
  for (const [at, text] of [[0.5, "0"], [5.5, "50 %"], [10.2, "100 %"]]) picture.append(svg("text", {class: "under", x: at * each, y: floor + 16}, text));
  let below = 0;
  const half = tenths.findIndex(n => (below += n) * 2 >= accounts);
  return el("article", {class: "card left"},
    el("h3", {}, "per ", per(unit)),
    picture,
    el("p", {class: "faint small"}, `${number(tenths[0])} of ${many(accounts, "account", "accounts")} ${tenths[0] === 1 ? "has" : "have"} nothing left.`,
      half > 1 ? ` More than half have over ${10 * (half - 1)} % left.` : ""));
}

export function showHistory(login, askAgain) {
  $("history-lead").textContent = "Statements and their costs since the server started, newest first. " +
    (login.owner ? "The statements are shown to their role only." : "Others with your role see the same; the owner sees no statements.");
  return load("history-body", "/api/history", ({history, most}) => {
    if (!history.length) return empty("No questions yet", "Your questions about sealed columns are listed here, with their costs.");
    const cell = (label, ...content) => el("td", {"data-label": label}, ...content);
    return [el("div", {class: "card flush"}, el("table", {class: "stack"},
      el("caption", {class: "sr"}, "Statements"),
      el("thead", {}, el("tr", {}, ["When", login.owner ? "Role" : null, "Asked", "Cost", "Answers"].filter(Boolean).map(t => el("th", {scope: "col"}, t)))),
      el("tbody", {}, history.map(h => el("tr", {},
        cell("When", time(h.at)),
        login.owner ? cell("Role", visible(h.role)) : null,
        cell("Asked", asked(h, askAgain)),
        cell("Cost", h.refused ? "nothing" : costInWords(h.report)),
        cell("Answers", h.refused ? el("span", {class: "tag shut"}, "refused: " + (refusals[h.refused] ?? visible(h.refused))) : answers(h.report))))))),
      history.length >= most ? el("p", {class: "faint"}, `The latest ${number(most)} are shown.`) : null];
  });
}

// asked shows a statement, or says which functions were asked about which columns. What was refused has no functions.
function asked({sql, epsilon, report}, askAgain) {
  if (sql) return el("div", {}, el("code", {class: "asked"}, visible(sql)),
    el("div", {}, el("button", {type: "button", class: "again", click: () => askAgain({sql, epsilon: epsilon ?? ""})}, "Run again"),
      epsilon ? el("span", {class: "faint small"}, `epsilon of plain aggregates ${epsilon}`) : null));
  const code = names => names.length ? el("code", {}, names.map(visible).join(", ")) : null;
  const functions = code([...new Set(report.functions)]), columns = code(report.columns);
  return el("span", {}, functions, functions && columns ? " over " : null, columns);
}

const refusals = {"53400": "a budget was used up", "42501": "not allowed", "57014": "canceled, or out of time"};

function answers(r) {
  const parts = [number(r.answers)];
  if (r.remembered) parts.push(`${number(r.remembered)} remembered`);
  if (r.left_out) parts.push(`${many(r.left_out, "account", "accounts")} left out`);
  return parts.join(", ");
}

const amounts = of => Object.entries(of).map(([unit, a]) => `${a} per ${per(unit)}`).join(", ") || "no bound";

export function showRoles(schema) {
  return load("roles-body", "/api/roles", ({roles}) => [
    roles.length ? el("div", {class: "grid"}, roles.map(r => el("article", {class: "card role"},
      el("h2", {}, visible(r.name)),
      el("dl", {class: "facts"},
        el("dt", {}, "May ask about"), el("dd", {}, r.columns.map(c => el("code", {class: "line"}, visible(columnText(c))))),
        el("dt", {}, "Budget of each account"), el("dd", {}, amounts(r.epsilon)),
        el("dt", {}, "In one call, at most"), el("dd", {}, amounts(r.epsilon_max)),
        el("dt", {}, "A value in a group"), el("dd", {}, r.max_repeat === 1 ? "once" : `up to ${number(r.max_repeat)} times`),
        el("dt", {}, "Accounts that cannot pay"), el("dd", {}, r.leave_out ? "are left out" : "refuse the answer"),
        el("dt", {}, "Time"), el("dd", {}, `${number(r.timeout)} s`),
        el("dt", {}, "New answers a day"), el("dd", {}, `at most ${number(r.answers)}`),
        el("dt", {}, "Rows"), el("dd", {}, r.rows ? `at most ${number(r.rows)}` : "any number")),
      el("div", {class: "bar end"}, el("button", {type: "button", "aria-label": "Drop the role " + visible(r.name), click: () => drop(r.name, schema)}, "Drop")))))
      : empty("No roles", "Nobody but you can log in. Add a role below."),
    form(schema),
  ]);
}

async function drop(name, schema) {
  const sure = await ask(`Drop ${visible(name)}?`, [el("p", {}, "The role cannot log in any more, and its running statements end. Its spending stays.")],
    [{label: "Keep", value: "", focus: true}, {label: "Drop the role", value: "drop", danger: true}]);
  if (sure !== "drop") return;
  try {
    await post("/api/roles/drop", {name});
    await showRoles(schema);
    say(`The role ${name} is dropped.`);
    $("roles-title").focus();
  } catch (fault) {
    if (fault.code === undefined) throw fault;
    $("roles-body").prepend(el("div", {class: "card problem", role: "alert"}, el("p", {class: "problem-title"}, sentence(fault.message))));
  }
}

function form(schema) {
  const sealed = schema.tables.flatMap(t => t.columns.filter(c => c.sealed).map(c => ({name: [t.name, c.name], unit: c.sealed.unit})));
  const units = [...new Set([...sealed.map(c => c.unit), "record"])];
  const error = el("p", {class: "error-line", role: "alert"});
  const input = (label, properties, hint) => el("label", {}, label, el("input", {autocomplete: "off", ...properties}), hint ? el("span", {class: "faint small"}, hint) : null);
  const f = el("form", {class: "card add", "aria-labelledby": "add-title", submit: async event => {
    event.preventDefault();
    const text = name => f.elements[name].value.trim();
    const some = prefix => Object.fromEntries(units.map((u, i) => [u, text(prefix + i)]).filter(([, v]) => v !== ""));
    error.textContent = "";
    try {
      await post("/api/roles/add", {
        name: text("name"), password: f.elements.password.value,
        columns: sealed.filter((_, i) => f.elements["column" + i].checked).map(c => c.name),
        epsilon: some("epsilon"), epsilon_max: some("most"),
        max_repeat: Number(text("repeat")), timeout: Number(text("timeout")), rows: Number(text("rows")), memory: 0, leave_out: f.elements.exhausted.value === "leave_out",
      });
      const name = text("name");
      await showRoles(schema);
      say(`The role ${name} is added.`);
      $("roles-title").focus();
    } catch (fault) {
      if (fault.code === undefined) throw fault;
      error.textContent = visible(`${fault.message}. ${fault.hint}`);
    }
  }},
    el("h2", {id: "add-title"}, "Add a role"),
    el("div", {class: "fields"},
      input("Name", {name: "name", required: true, maxlength: 63, autocapitalize: "off", spellcheck: "false"}),
      input("Password", {name: "password", type: "password", required: true, minlength: 12, autocomplete: "new-password"}, "12 characters or more")),
    el("fieldset", {}, el("legend", {}, "May ask about"), el("div", {class: "checks"}, sealed.map((c, i) => el("label", {class: "check"}, el("input", {type: "checkbox", name: "column" + i}), el("code", {}, visible(columnText(c.name))), el("span", {class: "faint"}, ` ${visible(c.unit)}`))))),
    el("fieldset", {}, el("legend", {}, "May spend of each account"), el("div", {class: "fields"}, units.flatMap((u, i) => [
      input(`Per ${per(u)}, in all`, {name: "epsilon" + i, inputmode: "decimal", placeholder: "nothing"}),
      input(`Per ${per(u)}, in one call`, {name: "most" + i, inputmode: "decimal", placeholder: "no bound"})]))),
    el("details", {}, el("summary", {}, "Bounds"), el("div", {class: "fields"},
      input("A value in a group, times", {name: "repeat", type: "number", min: 1, value: 1, required: true}),
      input("Seconds for a statement", {name: "timeout", type: "number", min: 1, value: 30, required: true}),
      input("Rows of a result", {name: "rows", type: "number", min: 0, value: 0, required: true}, "0 is any number"),
      el("label", {}, "If an account cannot pay", el("select", {name: "exhausted"}, el("option", {value: "refuse"}, "refuse the answer"), el("option", {value: "leave_out"}, "leave it out"))))),
    error,
    el("div", {class: "bar"}, el("button", {type: "submit", class: "primary"}, "Add the role")));
  return f;
}
