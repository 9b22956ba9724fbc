// The page's requests. Each that changes something, or costs, carries the token.

let token = "";
let loggedOut = () => {};

export class Fault extends Error {
  constructor(fault) {
    super(fault.message);
    Object.assign(this, {detail: "", hint: "", position: 0, report: null}, fault);
  }
}

// onLoggedOut sets what is called when the server knows the login no more.
export function onLoggedOut(f) { loggedOut = f; }

async function request(method, path, body, again = false) {
  const options = {method, credentials: "same-origin", cache: "no-store", redirect: "error", headers: {}};
  if (method === "POST") {
    options.headers = {"Content-Type": "application/json", "X-CSRF-Token": token};
    options.body = JSON.stringify(body);
  }
  let response, answer;
  try {
    response = await fetch(path, options);
    answer = await response.json();
  } catch {
    throw new Fault({code: "network", message: "the server does not answer", hint: "Is it running? Try again."});
  }
  if (answer.token) token = answer.token;
  if (response.ok) return answer;
  // The server has another secret since it was started anew. It answers nothing twice: a refused request did nothing.
  if (answer.error?.code === "token" && !again) {
    await request("GET", "/api/session");
    return request(method, path, body, true);
  }
  const fault = new Fault(answer.error ?? {code: "server", message: "the server has failed"});
  if (response.status === 401 && fault.code === "logged_out" || fault.code === "57P01" || fault.code === "28000") loggedOut(fault);
  throw fault;
}

export const get = path => request("GET", path);
export const post = (path, body = {}) => request("POST", path, body);
