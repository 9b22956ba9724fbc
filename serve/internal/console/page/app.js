// The frame of the page: who has logged in, and which part is shown.

import {$, el, show, say, sentence, openDialog} from "./dom.js";
import {get, post, onLoggedOut} from "./api.js";
import {Query} from "./query.js";
import {showBudgets, showHistory, showRoles} from "./pages.js";

const query = new Query();
let login = null, lastUser = "", schema = null;
let renewed = Promise.resolve(); // when the token for the next login is there

const pages = {
  query: () => query.focus(),
  budgets: () => showBudgets(login),
  history: () => showHistory(login, askAgain),
  roles: () => showRoles(schema),
};

// askAgain shows an earlier question and runs it. As always, the cost comes first.
function askAgain(question) {
  location.hash = "#query";
  query.load(question);
  query.run();
}

function openPage() {
  if (!login) return;
  let name = location.hash.slice(1);
  if (!Object.hasOwn(pages, name) || name === "roles" && !login.owner) name = "query";
  for (const id of Object.keys(pages)) $(id).hidden = id !== name;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === "#" + name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  document.title = name === "query" ? "geosql" : `${$(name + "-title").textContent} · geosql`;
  if (name !== "query") $(name + "-title").focus();
  pages[name]();
}

async function enter(who) {
  login = who;
  if (who.user !== lastUser) query.reset();
  lastUser = who.user;
  schema = {tables: [], functions: [], domains: []};
  let fault = null;
  try {
    schema = await get("/api/schema");
  } catch (error) {
    fault = error;
  }
  if (login !== who) return; // it has ended meanwhile
  query.setSchema(schema, who);
  $("database").textContent = schema.database ?? "";
  $("user").textContent = who.user;
  $("roles-link").hidden = !who.owner;
  $("login").hidden = true;
  $("app").hidden = false;
  if (fault) query.showFault(fault);
  openPage();
}

function leave(why) {
  login = null;
  openDialog()?.close();
  $("app").hidden = true;
  $("login").hidden = false;
  $("login-why").textContent = why;
  $("login-error").textContent = "";
  $("login-password").value = "";
  document.title = "Log in · geosql";
  $(lastUser ? "login-password" : "login-user").focus();
  renewed = get("/api/session").catch(() => {});
}

const welcome = $("login-why").textContent;

onLoggedOut(() => {
  if (login) leave("Your login has ended. Log in again: your statement is still there.");
});

$("login-form").addEventListener("submit", async event => {
  event.preventDefault();
  const button = event.submitter ?? $("login-form").querySelector("button");
  button.disabled = true;
  $("login-error").textContent = "";
  try {
    await renewed;
    const answer = await post("/api/login", {user: $("login-user").value, password: $("login-password").value});
    $("login-password").value = "";
    await enter(answer.login);
    say(`Logged in as ${answer.login.user}`);
  } catch (fault) {
    show($("login-error"), sentence(fault.message) + ".", fault.hint ? " " + fault.hint : "");
    $("login-password").select();
    $("login-password").focus();
  } finally {
    button.disabled = false;
  }
});

$("logout").addEventListener("click", async () => {
  await post("/api/logout").catch(() => {});
  query.reset();
  lastUser = "";
  $("login-user").value = "";
  for (const id of ["budgets-body", "left-body", "history-body", "roles-body"]) show($(id));
  history.replaceState(null, "", "#query");
  leave(welcome);
});

document.querySelector(".skip").addEventListener("click", event => {
  event.preventDefault(); // the address says which page is shown
  (login ? $("main") : $("login-user")).focus();
});

window.addEventListener("hashchange", openPage);

try {
  const answer = await get("/api/session");
  if (answer.login) await enter(answer.login);
  else leave(welcome);
} catch (fault) {
  if (fault.code === undefined) throw fault;
  leave(welcome);
  show($("login-error"), el("span", {}, sentence(fault.message) + ". " + fault.hint));
}
