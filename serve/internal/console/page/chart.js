// A chart of a result: one column against another one, as bars or as a line, with 95 % intervals where they are known.

import {el, svg, show, visible, number} from "./dom.js";

const mostBars = 400, mostPoints = 5000;

export function chartable(result, numeric) { return result.rows.length > 1 && numeric.some(Boolean); }

const isTime = v => typeof v === "string" && /^\d{4}-\d{2}(-\d{2}([ T]\d{2}:\d{2}.*)?)?$/.test(v) && !Number.isNaN(Date.parse(v));

export class Chart {
  constructor(result, numeric) {
    this.result = result;
    this.numeric = numeric;
    this.ys = numeric.flatMap((yes, i) => yes ? [i] : []);
    this.x = 0;
    this.y = this.ys.find(i => i !== 0) ?? 0;
    if (this.y === this.x) this.x = -1; // the number of the row
    const sample = result.rows.map(r => r[this.x]);
    this.kind = result.rows.length > 24 && (this.x < 0 || numeric[this.x] || sample.every(isTime)) ? "line" : "bars";
  }

  // radius is how far answers may be off, if they are in the column that is drawn: numbers of other columns are exact.
  get radius() { return this.ys.filter(i => i !== this.x).length === 1 ? this.result.report.radius : 0; }

  draw(box) {
    const names = this.result.columns.map(c => visible(c.name) || "no name");
    const pick = (label, value, options, set) => el("label", {}, label + " ",
      el("select", {name: "chart-" + label.toLowerCase(), change: event => { set(event.target.value); this.paint(); }},
        options.map(([v, text]) => el("option", {value: v, selected: String(v) === String(value)}, text))));
    this.plot = el("div", {class: "plot"});
    this.readout = el("p", {class: "readout faint", "aria-hidden": "true"}, "\u00a0");
    show(box,
      el("div", {class: "bar controls"},
        pick("Across", this.x, [[-1, "row"], ...names.map((n, i) => [i, n])], v => { this.x = Number(v); }),
        pick("Up", this.y, this.ys.map(i => [i, names[i]]), v => { this.y = Number(v); }),
        pick("As", this.kind, [["bars", "bars"], ["line", "line"]], v => { this.kind = v; })),
      this.plot, this.readout, el("p", {class: "faint legend"}, this.radius ? `The lines at the ends are 95 % intervals, ± ${number(this.radius)} ${visible(this.result.report.unit)}.` : null));
    this.observer?.disconnect();
    this.observer = new ResizeObserver(() => {
      const width = this.plot.clientWidth;
      if (width && width !== this.width) this.paint();
    });
    this.observer.observe(this.plot);
    this.paint();
  }

  paint() {
    const width = this.width = Math.max(280, this.plot.clientWidth), height = Math.round(Math.min(380, Math.max(240, width * 0.5)));
    const most = this.kind === "bars" ? mostBars : mostPoints;
    let points = this.result.rows.map((r, i) => ({label: this.x < 0 ? i + 1 : r[this.x], y: r[this.y]})).filter(p => p.y !== null);
    const cut = points.length > most;
    points = points.slice(0, most);
    const radius = this.radius;
    const low = Math.min(...points.map(p => p.y - radius)), high = Math.max(...points.map(p => p.y + radius));
    const scale = ticks(this.kind === "bars" ? Math.min(0, low) : low, this.kind === "bars" ? Math.max(0, high) : high, height / 52);
    const labels = scale.all.map(number);
    const left = 14 + 7.2 * Math.max(...labels.map(l => l.length)), right = 12, top = 12, bottom = 40;
    const w = width - left - right, h = height - top - bottom;
    const upward = v => top + h - (v - scale.low) / (scale.high - scale.low) * h;
    // Numbers and times stand where their value is in a line, others side by side.
    const values = points.map(p => typeof p.label === "number" ? p.label : isTime(p.label) ? Date.parse(p.label) : null);
    const spread = this.kind === "line" && values.every(v => v !== null) ? [Math.min(...values), Math.max(...values)] : null;
    const across = i => spread && spread[1] > spread[0] ? left + (values[i] - spread[0]) / (spread[1] - spread[0]) * w : left + (i + 0.5) / points.length * w;
    const order = points.map((_, i) => i);
    if (spread) order.sort((a, b) => values[a] - values[b]);

    const name = visible(this.result.columns[this.y].name);
    const picture = svg("svg", {
      class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img",
      "aria-label": `${this.kind === "bars" ? "Bars" : "A line"} of ${name}, ${points.length} values from ${number(Math.min(...points.map(p => p.y)))} to ${number(Math.max(...points.map(p => p.y)))}. The table has all of them.`,
      pointermove: event => this.read(event, points, order.map(across), order),
      pointerleave: () => { this.readout.textContent = "\u00a0"; this.mark?.remove(); },
    });
    scale.all.forEach((v, i) => picture.append(
      svg("line", {class: v === 0 ? "axis" : "gridline", x1: left, x2: width - right, y1: upward(v), y2: upward(v)}),
      svg("text", {class: "side", x: left - 8, y: upward(v)}, labels[i])));
    if (this.kind === "bars") {
      const thick = Math.max(1, Math.min(56, w / points.length * 0.68));
      points.forEach((p, i) => {
        const y0 = upward(Math.max(0, scale.low)), y1 = upward(p.y);
        picture.append(svg("rect", {class: "column-bar", x: across(i) - thick / 2, y: Math.min(y0, y1), width: thick, height: Math.max(0.5, Math.abs(y0 - y1)), rx: Math.min(2, thick / 4)}));
      });
    } else {
      const path = edge => order.map((i, n) => `${n ? "L" : "M"}${across(i).toFixed(1)} ${upward(edge(points[i].y)).toFixed(1)}`).join("");
      if (radius) picture.append(svg("path", {class: "band", d: path(y => y + radius) + [...order].reverse().map(i => `L${across(i).toFixed(1)} ${upward(points[i].y - radius).toFixed(1)}`).join("") + "Z"}));
      picture.append(svg("path", {class: "curve", d: path(y => y)}));
      if (points.length <= 60) order.forEach(i => picture.append(svg("circle", {class: "dot", cx: across(i), cy: upward(points[i].y), r: 3})));
    }
    if (radius && points.length <= 60) points.forEach((p, i) => {
      const x = across(i), y0 = upward(p.y - radius), y1 = upward(p.y + radius), cap = Math.min(5, w / points.length * 0.25);
      picture.append(svg("path", {class: "whisker", d: `M${x - cap} ${y0}H${x + cap}M${x - cap} ${y1}H${x + cap}M${x} ${y0}V${y1}`}));
    });
    this.labelAcross(picture, points, order, across, width, top + h + 20);
    picture.append(svg("text", {class: "title", x: width - right, y: height - 4}, this.x < 0 ? "row" : short(visible(this.result.columns[this.x].name), 40)));
    show(this.plot, picture, cut ? el("p", {class: "notice"}, `Only the first ${number(most)} values are drawn.`) : null);
    this.plotHeight = top + h;
    this.plotTop = top;
  }

  // labelAcross writes as many labels as have room.
  labelAcross(picture, points, order, across, width, y) {
    const labels = order.map(i => {
      const v = points[i].label;
      const text = v === null ? "NULL" : typeof v === "number" ? String(v) : typeof v === "object" ? "…" : short(visible(v), 16);
      return {text, x: across(i), half: text.length * 3.7};
    });
    // Every so many, so that gaps are even.
    for (let each = 1; each <= labels.length; each++) {
      const some = labels.filter((l, n) => n % each === 0 && l.x - l.half > 0 && l.x + l.half < width);
      if (some.some((l, n) => n > 0 && l.x - l.half < some[n - 1].x + some[n - 1].half + 12)) continue;
      picture.append(...some.map(l => svg("text", {class: "under", x: l.x, y}, l.text)));
      return;
    }
  }

  // read tells the value under the pointer.
  read(event, points, xs, order) {
    const picture = event.currentTarget, box = picture.getBoundingClientRect();
    const x = (event.clientX - box.left) / box.width * this.width;
    let best = 0;
    xs.forEach((at, n) => { if (Math.abs(at - x) < Math.abs(xs[best] - x)) best = n; });
    const p = points[order[best]];
    this.mark?.remove();
    this.mark = svg("line", {class: "cursor", x1: xs[best], x2: xs[best], y1: this.plotTop, y2: this.plotHeight});
    picture.prepend(this.mark);
    this.readout.textContent = `${p.label === null ? "NULL" : typeof p.label === "object" ? "bytes" : visible(p.label)}: ${number(p.y)}` + (this.radius ? ` ± ${number(this.radius)}` : "");
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
