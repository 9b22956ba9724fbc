// What something costs, in words and as a table.

import {el, visible, number, many, bar} from "./dom.js";

// charged returns what a report has charged, without what was free.
export function charged(report) { return report.costs.filter(c => c.most !== "0" || c.role_most !== "0"); }

// costInWords says what a report has charged.
export function costInWords(report) {
  return charged(report).map(c => c.most === "0"
    ? `up to ${c.role_most} per ${visible(c.unit)} of the role's budget for ${many(c.role_accounts, "account", "accounts")}`
    : `up to ${c.most} per ${visible(c.unit)} of ${many(c.accounts, "account", "accounts")}`).join(" and ") || "nothing";
}

// costBody returns what a dialog says about a quote.
export function costBody(quote, budgets) {
  const report = quote.report, costs = charged(report);
  const parts = [];
  if (costs.length) {
    const cell = (label, ...content) => el("td", {"data-label": label}, ...content);
    parts.push(el("table", {class: "costs"},
      el("caption", {class: "sr"}, "Epsilon to spend, by unit"),
      el("thead", {}, el("tr", {}, ["Unit", "Accounts", "Each pays", "Of your budget", "Repeats"].map((t, i) => el("th", {scope: "col", class: i ? "right" : null}, t)))),
      el("tbody", {}, costs.map(c => el("tr", {},
        el("th", {scope: "row"}, visible(c.unit)),
        cell("Accounts", number(Math.max(c.accounts, c.role_accounts))),
        cell("Each pays", el("strong", {}, c.most)),
        cell("Of your budget", c.role_accounts ? c.role_most : "nothing"),
        cell("Repeats", c.multiplicity > 1 ? `${number(c.multiplicity)} times` : "none"))))));
    for (const c of costs) {
      const b = budgets.find(b => b.unit === c.unit);
      if (!b) continue;
      const after = Number(b.most) + Number(c.role_most), limit = Number(b.limit);
      const text = `You may spend ${b.limit} per ${visible(b.unit)} of each account. ${b.most === "0" ? "Nothing" : `At most ${b.most}`} is spent; after this, at most ${number(after)}.`;
      parts.push(el("div", {class: "after"}, bar(text, limit ? Number(b.most) / limit : 1, limit ? after / limit : 1), el("p", {class: "faint"}, text)));
    }
  } else {
    parts.push(el("p", {}, report.answers ? "All answers are remembered from before, and given again for nothing." : "The statement asks nothing of sealed columns, so no budget pays."));
  }
  const facts = [];
  if (report.answers) facts.push(["Answers", number(report.answers)]);
  if (report.remembered) facts.push(["Remembered, free", number(report.remembered)]);
  if (report.answers) facts.push(["Accounts left out", report.left_out ? `${number(report.left_out)}, which cannot pay` : "none"]);
  if (report.columns.length) facts.push(["Sealed columns", report.columns.map(visible).join(", ")]);
  if (report.radius) facts.push(["95 % interval", `± ${number(report.radius)} ${visible(report.unit)}`]);
  if (facts.length) parts.push(el("dl", {class: "facts"}, facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])));
  parts.push(...quote.notices.map(n => el("p", {class: "notice"}, visible(n.message))));
  if (quote.charges) parts.push(el("p", {class: "faint"}, "Each account pays at most this epsilon. What is spent does not come back; nothing has been spent yet."));
  return parts;
}
