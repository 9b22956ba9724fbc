// What the editor knows of SQL: words, for colours, and what may stand at a place, for completion.

const keywords = `ALL AND AS ASC AVG BETWEEN BY CASE CAST COUNT CROSS DESC DISTINCT ELSE END EXCEPT EXISTS FILTER FROM GROUP HAVING
IN INNER INTERSECT IS JOIN LEFT LIKE LIMIT MAX MIN NOT NULL OFFSET ON OR ORDER OUTER OVER PARTITION RECURSIVE SELECT SUM THEN UNION
USING VALUES WHEN WHERE WINDOW WITH`.split(/\s+/).filter(w => !["AVG", "COUNT", "MAX", "MIN", "SUM"].includes(w));
const keywordSet = new Set(keywords);

const tokens = /(--[^\n]*|\/\*[^]*?(?:\*\/|$))|('(?:[^']|'')*(?:'|$))|("(?:[^"]|"")*(?:"|$)|`[^`]*(?:`|$)|\[[^\]]*(?:\]|$))|(\d+(?:\.\d*)?(?:e[+-]?\d+)?)|([\p{L}_][\p{L}\p{N}_$]*)|(\s+)|([^])/giu;
const kinds = ["comment", "string", "name", "number", "word", "space", "other"];

// scan splits a statement into its words.
export function scan(sql) {
  return [...sql.matchAll(tokens)].map(m => ({kind: kinds[m.slice(1).findIndex(part => part !== undefined)], text: m[0], at: m.index}));
}

export function colour(token, functions) {
  if (token.kind !== "word") return token.kind;
  if (keywordSet.has(token.text.toUpperCase())) return "keyword";
  const f = functions.get(token.text.toLowerCase());
  return f ? (f.charges ? "private" : "function") : "word";
}

const bare = text => /^["`\[]/.test(text) ? text.slice(1, -1) : text;
const plain = /^[a-z_][a-z0-9_]*$/i;
const quoted = name => plain.test(name) && !keywordSet.has(name.toUpperCase()) ? name : `"${name.replaceAll('"', '""')}"`;

// tablesIn returns the tables that a statement names after FROM and JOIN, by their name or alias.
function tablesIn(sql, schema) {
  const words = scan(sql).filter(t => t.kind !== "space" && t.kind !== "comment");
  const found = new Map();
  for (let i = 0; i < words.length; i++) {
    if (!/^(from|join|,)$/i.test(words[i].text)) continue;
    const named = words[i + 1] && schema.tables.find(t => t.name.toLowerCase() === bare(words[i + 1].text).toLowerCase());
    if (!named) continue;
    found.set(named.name.toLowerCase(), named);
    const alias = /^as$/i.test(words[i + 2]?.text ?? "") ? words[i + 3] : words[i + 2];
    if (alias && (alias.kind === "name" || alias.kind === "word" && !keywordSet.has(alias.text.toUpperCase())))
      found.set(bare(alias.text).toLowerCase(), named);
  }
  return found;
}

export function describe(column) {
  if (!column.sealed) return column.type;
  const of = column.sealed.universe || column.sealed.domain;
  return `sealed, ${of}${column.sealed.granted ? "" : ", not granted to you"}`;
}

// complete returns what may complete the word before a place: {from, options}. Unless it was asked for, that is
// nothing for a word that is short or whole: it would be in the way.
export function complete(sql, at, schema, asked) {
  const found = candidates(sql, at, schema);
  const word = sql.slice(found.from, at), whole = found.options.some(o => o.name.toLowerCase() === word.toLowerCase() && !o.text.endsWith("("));
  const afterDot = sql[found.from - 1] === ".";
  return asked || !whole && (word.length > 1 || afterDot) ? found : {from: at, options: []};
}

function candidates(sql, at, schema) {
  const before = sql.slice(0, at);
  const last = scan(before).at(-1);
  const none = {from: at, options: []};
  if (last && (last.kind === "comment" || last.kind === "string" || last.kind === "name" || last.kind === "number")) return none;
  const word = last?.kind === "word" ? last.text : "";
  const from = at - word.length, lower = word.toLowerCase();
  const tables = tablesIn(sql, schema);
  const columns = t => t.columns.map(c => ({
    text: quoted(c.name), name: c.name, kind: c.sealed ? (c.sealed.granted ? "sealed" : "shut") : "column", info: `${describe(c)} · ${t.name}`,
  }));
  const qualifier = /([\p{L}_][\p{L}\p{N}_$]*|"[^"]+")\s*\.$/u.exec(before.slice(0, from));
  if (qualifier) {
    const t = tables.get(bare(qualifier[1]).toLowerCase()) ?? schema.tables.find(t => t.name.toLowerCase() === bare(qualifier[1]).toLowerCase());
    return {from, options: t ? matching(columns(t), lower) : []};
  }
  const previous = scan(before.slice(0, from)).filter(t => t.kind !== "space" && t.kind !== "comment").at(-1);
  const ofTables = schema.tables.map(t => ({text: quoted(t.name), name: t.name, kind: "table", info: t.view ? "view" : "table"}));
  if (previous && /^(from|join)$/i.test(previous.text)) return {from, options: matching(ofTables, lower)};
  const options = [
    ...[...new Set(tables.values())].flatMap(columns),
    ...schema.functions.map(f => ({text: f.name + "(", name: f.name, kind: f.charges ? "private" : "function", info: f.signatures[0]})),
    ...ofTables,
    ...keywords.map(k => ({text: k, name: k, kind: "keyword", info: ""})),
    ...(tables.size ? [] : schema.tables.flatMap(columns)),
  ];
  return {from, options: matching(options, lower)};
}

function matching(options, lower) {
  const rank = o => {
    const name = o.name.toLowerCase();
    if (name.startsWith(lower)) return 0;
    return lower.length > 1 && (name.includes("_" + lower) || lower.length > 2 && name.includes(lower)) ? 1 : 2;
  };
  const found = options.map(o => ({o, rank: rank(o)})).filter(x => x.rank < 2);
  found.sort((a, b) => a.rank - b.rank);
  const all = found.map(x => x.o);
  return all.slice(0, 40);
}

// callAt returns the name of the function whose arguments a place is in, or nothing.
export function callAt(sql, at) {
  const words = scan(sql.slice(0, at)).filter(t => t.kind !== "space" && t.kind !== "comment");
  let depth = 0;
  for (let i = words.length - 1; i >= 0; i--) {
    const text = words[i].text;
    if (text === ")") depth++;
    else if (text === "(" && depth-- === 0) return words[i - 1]?.kind === "word" ? words[i - 1].text.toLowerCase() : "";
  }
  return "";
}
