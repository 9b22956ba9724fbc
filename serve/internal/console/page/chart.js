// A chart of a result: one or two columns against another one, as bars or as lines, with 95 % intervals where they are known.

import {el, svg, show, visible, number, many} from "./dom.js";
import {zoomable} from "./zoom.js";

const mostBars = 400, mostPoints = 5000, mostWhiskers = 60;

export function chartable(result, numeric) { return result.rows.length > 1 && numeric.some(Boolean); }

const isTime = v => typeof v === "string" && /^\d{4}-\d{2}(-\d{2}([ T]\d{2}:\d{2}.*)?)?$/.test(v) && !Number.isNaN(Date.parse(v));

export class Chart {
  constructor(result, numeric) {
    this.result = result;
    this.names = result.columns.map(c => visible(c.name) || "no name");
    this.ys = numeric.flatMap((yes, i) => yes ? [i] : []);
    this.x = 0;
    this.y = this.ys.find(i => i !== 0) ?? 0;
    if (this.y === this.x) this.x = -1; // the number of the row
    this.second = -1; // none
    this.view = [0, 1]; // the part of the rows that is drawn
    const sample = result.rows.map(r => r[this.x]);
    this.kind = result.rows.length > 24 && (this.x < 0 || numeric[this.x] || sample.every(isTime)) ? "line" : "bars";
  }

  draw(box) {
    const pick = (label, value, options, set) => el("label", {}, label + " ",
      el("select", {name: "chart-" + label.toLowerCase(), change: event => { set(event.target.value); this.paint(); }},
        options.map(([v, text]) => el("option", {value: v, selected: String(v) === String(value)}, text))));
    const columns = list => list.map(i => [i, this.names[i]]);
    this.plot = el("div", {class: "plot"});
    this.readout = el("p", {class: "readout faint", "aria-hidden": "true"}, "\u00a0");
    this.legend = el("p", {class: "legend"});
    show(box,
      el("div", {class: "bar controls"},
        pick("Across", this.x, [[-1, "row"], ...columns([...this.names.keys()])], v => { this.x = Number(v); }),
        pick("Up", this.y, columns(this.ys), v => { this.y = Number(v); }),
        this.ys.length > 1 ? pick("And", this.second, [[-1, "nothing else"], ...columns(this.ys)], v => { this.second = Number(v); }) : null,
        pick("As", this.kind, [["bars", "bars"], ["line", "line"]], v => { this.kind = v; }),
        zoomable(this.plot, this)),
      this.plot, this.readout, this.legend);
    this.observer?.disconnect();
    this.observer = new ResizeObserver(() => {
      const width = this.plot.clientWidth;
      if (width && width !== this.width) this.paint();
    });
    this.observer.observe(this.plot);
    this.paint();
  }

  zoomed() { return this.view[1] - this.view[0] < 1; }

  zoom(by, [at]) {
    const [from, to] = this.view, part = Math.min(1, Math.max(2 / this.result.rows.length, (to - from) * by));
    this.look(from + at * (to - from - part), part);
  }

  move(across) { this.look(this.view[0] - across * (this.view[1] - this.view[0]), this.view[1] - this.view[0]); }

  whole() { this.look(0, 1); }

  look(from, part) {
    from = Math.min(1 - part, Math.max(0, from));
    this.view = [from, from + part];
    this.paint();
  }

  // serie returns a column that is drawn: its numbers, and how far each may be from the truth, 0 if that is not known.
  serie(i, n) {
    const within = this.result.rows.map((_, k) => Number(/^± ([0-9.e+-]+)$/.exec(this.result.within?.[k][i] ?? "")?.[1] ?? 0));
    return {name: this.names[i], group: svg("g", {class: n ? "second" : null}), y: p => p.row[i], radius: p => within[p.k]};
  }

  paint() {
    const width = this.width = Math.max(280, this.plot.clientWidth), height = Math.round(Math.min(380, Math.max(240, width * 0.5)));
    const bars = this.kind === "bars", most = bars ? mostBars : mostPoints;
    const series = [this.y, ...(this.second >= 0 && this.second !== this.y ? [this.second] : [])].map((i, n) => this.serie(i, n));
    const all = this.result.rows.map((row, k) => ({row, k, label: this.x < 0 ? k + 1 : row[this.x]})).filter(p => series.some(s => s.y(p) !== null));
    // Numbers and times stand where their value is in a line, others side by side.
    for (const p of all) p.value = typeof p.label === "number" ? p.label : isTime(p.label) ? Date.parse(p.label) : null;
    const placed = !bars && all.every(p => p.value !== null);
    if (placed) all.sort((a, b) => a.value - b.value);
    const first = Math.floor(this.view[0] * all.length + 1e-9), some = all.slice(first, Math.ceil(this.view[1] * all.length - 1e-9)), points = some.slice(0, most);
    const labels = [], top = 12, bottom = 40, h = height - top - bottom;
    const scale = list => {
      const ends = list.flatMap(s => points.filter(p => s.y(p) !== null).flatMap(p => [s.y(p) - s.radius(p), s.y(p) + s.radius(p)]));
      if (!ends.length) ends.push(0);
      const low = Math.min(...ends), high = Math.max(...ends), axis = ticks(bars ? Math.min(0, low) : low, bars ? Math.max(0, high) : high, height / 52);
      labels.push(axis.all.map(number));
      return {...axis, up: v => top + h - (v - axis.low) / (axis.high - axis.low) * h};
    };
    // Two columns have an axis in common unless one would be flat on it.
    const sizes = series.map(s => Math.max(...points.map(p => Math.abs(s.y(p) ?? 0))));
    const apart = series.length > 1 && Math.max(...sizes) > 20 * Math.min(...sizes);
    const scales = apart ? series.map(s => scale([s])) : [scale(series)];
    const room = texts => 14 + 7.2 * Math.max(...texts.map(l => l.length));
    const left = room(labels[0]), right = apart ? room(labels[1]) : 12, w = width - left - right;
    const spread = placed && points.length > 1 && points.at(-1).value > points[0].value ? points.at(-1).value - points[0].value : 0;
    const across = points.map((p, n) => spread ? left + (p.value - points[0].value) / spread * w : left + (n + 0.5) / points.length * w);

    const known = series.flatMap(s => points.map(s.radius).filter(Boolean));
    const marks = bars ? points.length <= mostWhiskers && "whiskers" : series.every(s => points.some(s.radius)) && series.length > 1 ? "bands" : "band";
    const range = s => {
      const ys = points.map(s.y).filter(y => y !== null);
      return `${s.name}, ${many(ys.length, "value", "values")} from ${number(Math.min(...ys))} to ${number(Math.max(...ys))}`;
    };
    const picture = svg("svg", {
      class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": `${bars ? "Bars" : series.length > 1 ? "Lines" : "A line"} of ${series.map(range).join(", and of ")}. The table has all of them.`,
      pointermove: event => this.read(event, points, across, series),
      pointerleave: () => { this.readout.textContent = "\u00a0"; this.mark?.remove(); },
    });
    scales.forEach((s, n) => s.all.forEach((v, i) => picture.append(
      n ? "" : svg("line", {class: v === 0 ? "axis" : "gridline", x1: left, x2: width - right, y1: s.up(v), y2: s.up(v)}),
      svg("text", {class: n ? "other-side" : "side", x: n ? width - right + 8 : left - 8, y: s.up(v)}, labels[n][i]))));
    series.forEach((s, n) => {
      const axis = scales[n] ?? scales[0], up = axis.up, there = points.flatMap((p, i) => s.y(p) === null ? [] : [{x: across[i], y: s.y(p), r: s.radius(p)}]);
      const path = (list, edge) => list.map((p, i) => `${i ? "L" : "M"}${p.x.toFixed(1)} ${up(edge(p)).toFixed(1)}`).join("");
      if (bars) {
        const thick = Math.max(1, Math.min(56, w / points.length * 0.68) / series.length);
        for (const p of there) {
          const x = p.x + (n - series.length / 2) * thick, y0 = up(Math.max(0, axis.low)), y1 = up(p.y);
          s.group.append(svg("rect", {class: "column-bar", x, y: Math.min(y0, y1), width: thick, height: Math.max(0.5, Math.abs(y0 - y1)), rx: Math.min(2, thick / 4)}));
          const middle = x + thick / 2, cap = Math.min(5, thick * 0.4);
          if (p.r && marks) s.group.append(svg("path", {class: "whisker", d: `M${middle - cap} ${up(p.y - p.r)}h${2 * cap}M${middle - cap} ${up(p.y + p.r)}h${2 * cap}M${middle} ${up(p.y - p.r)}V${up(p.y + p.r)}`}));
        }
      } else {
        if (there.some(p => p.r)) s.group.append(svg("path", {class: "band", d: path(there, p => p.y + p.r) + path([...there].reverse(), p => p.y - p.r).replace("M", "L") + "Z"}));
        s.group.append(svg("path", {class: "curve", d: path(there, p => p.y)}));
        if (points.length <= 60) s.group.append(...there.map(p => svg("circle", {class: "dot", cx: p.x, cy: up(p.y), r: 3})));
      }
      picture.append(s.group);
    });
    labelAcross(picture, points, across, width, top + h + 20);
    const name = this.x < 0 ? "row" : this.names[this.x];
    picture.append(svg("text", {class: "title", x: width - right, y: height - 4}, short(name, 40)));
    this.plotTop = top;
    this.plotHeight = top + h;
    show(this.plot, picture, points.length < some.length ? el("p", {class: "notice"}, `Only the first ${number(most)} values are drawn. Zoom in to see others.`) : null);
    const unit = this.result.report.unit ? " " + visible(this.result.report.unit) : "";
    const widest = number(Math.max(...known)) + unit, same = known.every(r => r === known[0]);
    const how = marks ? `The ${marks} show${marks === "band" ? "s" : ""} 95 % intervals` : "With probability 0.95 answers are within";
    show(this.legend,
      series.length > 1 ? series.map((s, n) => el("span", {class: "key"},
        svg("svg", {viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true"}, svg("g", {class: n ? "second" : null}, svg("rect", {class: "column-bar", width: 12, height: 12, rx: 2}))),
        s.name + (apart ? n ? ", axis at the right" : ", axis at the left" : ""))) : null,
      el("span", {class: "caption faint"}, [
        `${series.map(s => s.name).join(" and ")} by ${name}` + (points.length < all.length ? `, values ${number(first + 1)} to ${number(first + points.length)} of ${number(all.length)}.` : "."),
        known.length ? marks ? `${how}, ${same ? "" : "up to "}± ${widest}.` : `${how} ${same ? "" : "up to "}± ${widest}.` : ""].filter(Boolean).join(" ")));
  }

  // read tells the values under the pointer.
  read(event, points, across, series) {
    const picture = event.currentTarget, box = picture.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width * this.width;
    let best = 0;
    across.forEach((at, n) => { if (Math.abs(at - x) < Math.abs(across[best] - x)) best = n; });
    const p = points[best];
    this.mark?.remove();
    this.mark = svg("line", {class: "cursor", x1: across[best], x2: across[best], y1: this.plotTop, y2: this.plotHeight});
    picture.prepend(this.mark);
    const values = series.filter(s => s.y(p) !== null).map(s => (series.length > 1 ? s.name + " " : "") + number(s.y(p)) + (s.radius(p) ? ` ± ${number(s.radius(p))}` : ""));
    this.readout.textContent = `${p.label === null ? "NULL" : typeof p.label === "object" ? "bytes" : visible(p.label)}: ${values.join(", ")}`;
  }
}

// labelAcross writes as many labels as have room.
function labelAcross(picture, points, across, width, y) {
  const labels = points.map(({label: v}, n) => {
    const text = v === null ? "NULL" : typeof v === "number" ? String(v) : typeof v === "object" ? "…" : short(visible(v), 16);
    return {text, x: across[n], half: text.length * 3.7};
  });
  // Every so many, so that gaps are even.
  for (let each = 1; each <= labels.length; each++) {
    const some = labels.filter((l, n) => n % each === 0 && l.x - l.half > 0 && l.x + l.half < width);
    if (some.some((l, n) => n > 0 && l.x - l.half < some[n - 1].x + some[n - 1].half + 12)) continue;
    picture.append(...some.map(l => svg("text", {class: "under", x: l.x, y}, l.text)));
    return;
  }
}

const short = (text, most) => [...text].length > most ? [...text].slice(0, most - 1).join("") + "…" : text;

// ticks returns round numbers that cover an interval.
function ticks(low, high, about) {
  if (!(high > low)) { const by = Math.abs(low) * 0.1 || 1; low -= by; high += by; }
  const rough = (high - low) / Math.max(2, about), power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(f => f * power >= rough);
  const from = Math.floor(low / step + 1e-9), to = Math.ceil(high / step - 1e-9);
  const all = [];
  for (let i = from; i <= to; i++) all.push(Number((i * step).toPrecision(12)));
  return {low: all[0], high: all.at(-1), all};
}
