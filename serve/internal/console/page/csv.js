// A result as CSV, as geosql -csv writes it: NULL is an empty field, and an empty text a quoted one.

export function csv(result) {
  const line = fields => fields.join(",") + "\n";
  return line(result.columns.map(c => field(c.name))) + result.rows.map(row => line(row.map(field))).join("");
}

function field(v) {
  if (v === null) return "";
  if (typeof v === "object") return v.hex + (v.bytes * 2 > v.hex.length ? "…" : ""); // bytes, of which the page has the first ones
  if (typeof v !== "string") return String(v);
  return v === "" || /[",\r\n]|^\s|\s$/.test(v) ? `"${v.replaceAll('"', '""')}"` : v;
}
