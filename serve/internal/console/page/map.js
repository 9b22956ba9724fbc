// A map of a result: its points and the cells of its heat maps, in the frame of their domain. There are no tiles:
// they would come from elsewhere, and tell there what is looked at.

import {el, svg, show, visible, number, many} from "./dom.js";
import {zoomable} from "./zoom.js";

const mostPoints = 5000;
const wkt = /^\s*POINT\s*\(\s*(-?\d+(?:\.\d+)?)\s+(-?\d+(?:\.\d+)?)\s*\)\s*$/i;

// places returns the points and cells of a result, or null if it has none.
export function places(result) {
  const points = [], cells = [];
  let cellM = 0;
  for (const row of result.rows) {
    for (const v of row) {
      if (typeof v !== "string") continue;
      const m = wkt.exec(v);
      if (m) points.push([Number(m[1]), Number(m[2])]);
      else if (v.startsWith('{"type":"FeatureCollection"')) {
        const heat = heatMap(v);
        cells.push(...heat.cells);
        cellM = heat.cellM || cellM;
      }
    }
  }
  return points.length || cells.length ? {points, cells, cellM} : null;
}

const isPlace = p => Array.isArray(p) && p.length >= 2 && p.slice(0, 2).every(x => typeof x === "number" && Number.isFinite(x));

// Cells of an adaptive heat map have sides, and colours by their counts in a square of the least side.
function heatMap(text) {
  let data;
  try { data = JSON.parse(text); } catch { return {cells: []}; }
  const cells = [];
  for (const f of Array.isArray(data.features) ? data.features : []) {
    const ring = f?.geometry?.type === "Polygon" ? f.geometry.coordinates?.[0] : null, count = f?.properties?.count, side = f?.properties?.cell_m;
    if (!Array.isArray(ring) || ring.length <= 3 || !ring.every(isPlace) || typeof count !== "number") continue;
    cells.push(typeof side === "number" ? {ring, count, side, level: count / (side / data.cell_m) ** 2} : {ring, count, level: count});
  }
  return {cells, cellM: typeof data.cell_m === "number" ? data.cell_m : 0};
}

// rings returns the rings of a region in WKT, a polygon or several.
function rings(wkt) {
  const all = [...(wkt ?? "").matchAll(/\(([^()]+)\)/g)].map(m => m[1].split(",").map(pair => pair.trim().split(/\s+/).map(Number)));
  return all.filter(ring => ring.every(isPlace));
}

const metresPerDegree = 111_195;

// around returns the smallest domain that has all of a box.
function around(box, domains) {
  const inside = domains.filter(d => box.west >= d.west - 0.02 && box.east <= d.east + 0.02 && box.south >= d.south - 0.02 && box.north <= d.north + 0.02);
  inside.sort((a, b) => (a.north - a.south) * (a.east - a.west) - (b.north - b.south) * (b.east - b.west));
  return inside[0];
}

export function drawMap(box, data, domains) {
  const all = [...data.points, ...data.cells.flatMap(c => c.ring)];
  const bounds = {west: Infinity, east: -Infinity, south: Infinity, north: -Infinity};
  for (const [lon, lat] of all) {
    bounds.west = Math.min(bounds.west, lon); bounds.east = Math.max(bounds.east, lon);
    bounds.south = Math.min(bounds.south, lat); bounds.north = Math.max(bounds.north, lat);
  }
  const domain = around(bounds, domains);
  const regions = domains.map(d => ({name: visible(d.name), rings: rings(d.region)})).filter(d => d.rings.length);
  let base = domain ?? padded(bounds), frame = base;
  const plot = el("div", {class: "plot"});
  const readout = el("p", {class: "readout faint", "aria-hidden": "true"}, "\u00a0");
  let width = 0;
  const paint = () => {
    width = Math.max(280, plot.clientWidth);
    show(plot, picture(data, regions, frame, frame === domain ? domain.name : "", width, text => { readout.textContent = text || "\u00a0"; }));
  };
  const look = to => { frame = to; paint(); };
  const view = {
    zoomed: () => frame !== base,
    whole: () => look(base),
    zoom: (by, [x, y]) => {
      const part = (base.north - base.south) / ((frame.north - frame.south) * by);
      if (part <= 1) return look(base);
      if (part > 1000) return;
      const west = frame.west + x * (1 - by) * (frame.east - frame.west), north = frame.north - y * (1 - by) * (frame.north - frame.south);
      look({west, north, east: west + by * (frame.east - frame.west), south: north - by * (frame.north - frame.south)});
    },
    move: (x, y) => {
      const lon = x * (frame.east - frame.west), lat = y * (frame.north - frame.south);
      look({west: frame.west - lon, east: frame.east - lon, south: frame.south + lat, north: frame.north + lat});
    },
  };
  const toggle = domain ? el("button", {
    type: "button", "aria-pressed": "false",
    click: event => {
      base = base === domain ? padded(bounds) : domain;
      event.target.setAttribute("aria-pressed", String(base !== domain));
      look(base);
    },
  }, "Fit to the answers") : null;
  const drawn = Math.min(data.points.length, mostPoints);
  const words = [];
  const largest = Math.max(0, ...data.cells.map(c => c.side ?? 0));
  if (data.cells.length) words.push(many(data.cells.length, "cell", "cells") + (data.cellM ? ` of ${length(data.cellM)}` : "") + (largest > data.cellM ? ` to ${length(largest)}` : ""));
  if (data.points.length) words.push(many(data.points.length, "point", "points") + (drawn < data.points.length ? `, ${number(drawn)} of them drawn` : ""));
  show(box, el("div", {class: "bar controls"}, el("span", {}, words.join(", ") + (domain ? ` in ${visible(domain.name)}` : "")), toggle, zoomable(plot, view)), plot, readout, legend(data, regions));
  new ResizeObserver(() => { if (plot.clientWidth && plot.clientWidth !== width) paint(); }).observe(plot);
  paint();
}

function padded(b) {
  const lat = Math.max((b.north - b.south) * 0.06, 0.001), lon = Math.max((b.east - b.west) * 0.06, 0.001);
  return {west: b.west - lon, east: b.east + lon, south: b.south - lat, north: b.north + lat};
}

const length = m => m >= 1000 ? `${number(m / 1000)} km` : `${number(m)} m`;
const degrees = (x, positive, negative) => `${Number(Math.abs(x).toFixed(4))}° ${x < 0 ? negative : positive}`;

// A class is a fifth of the cells by their level, as far as levels differ.
function classes(cells) {
  const counts = cells.map(c => c.level).sort((a, b) => a - b);
  const edges = [...new Set([0, 0.2, 0.4, 0.6, 0.8].map(q => counts[Math.floor(q * (counts.length - 1))]))];
  const colours = {1: [3], 2: [1, 4], 3: [0, 2, 4], 4: [0, 1, 3, 4], 5: [0, 1, 2, 3, 4]}[edges.length];
  return {edges, highest: counts.at(-1), colour: level => colours[edges.findLastIndex(e => level >= e)], colours};
}

// legend tells the marks of the map.
function legend({points, cells, cellM}, regions) {
  const mark = shape => svg("svg", {viewBox: "0 0 12 12", width: 12, height: 12, "aria-hidden": "true"}, shape);
  return el("p", {class: "legend"}, cells.length ? counts(cells, cellM, mark) : null,
    points.length ? el("span", {class: "key"}, mark(svg("circle", {class: "answer", cx: 6, cy: 6, r: 4.5})), "an answer: a location, with noise") : null,
    regions.map(r => el("span", {class: "key"}, mark(svg("rect", {class: "region", x: 1, y: 1, width: 10, height: 10})), `the region of ${r.name}`)));
}

function counts(cells, cellM, mark) {
  const {edges, highest, colours} = classes(cells), adaptive = cells.some(c => c.side);
  const level = x => number(adaptive ? Number(x.toPrecision(2)) : x);
  return [el("span", {class: "faint"}, adaptive ? `Count in a square of ${length(cellM)}, with noise ` : "Count, with noise "), ...edges.map((low, i) => {
    const high = i + 1 < edges.length ? edges[i + 1] - (adaptive ? 0 : 1) : highest;
    return el("span", {class: "key"}, mark(svg("rect", {class: "heat" + colours[i], width: 12, height: 12, rx: 2})),
      low === high ? level(low) : `${level(low)} to ${level(high)}`);
  })];
}

function picture(data, regions, frame, name, width, tell) {
  // The frame is flat, with the scale of its middle.
  const shrink = Math.max(0.05, Math.cos((frame.south + frame.north) / 2 * Math.PI / 180));
  const spanX = (frame.east - frame.west) * shrink, spanY = frame.north - frame.south;
  const pad = 4, scale = Math.min((width - 2 * pad) / spanX, 520 / spanY);
  const w = spanX * scale, h = spanY * scale, left = (width - w) / 2, top = pad, height = h + 2 * pad + 26;
  const x = lon => left + (lon - frame.west) * shrink * scale, y = lat => top + (frame.north - lat) * scale;
  const outline = ring => ring.map(([lon, lat], i) => `${i ? "L" : "M"}${x(lon).toFixed(1)} ${y(lat).toFixed(1)}`).join("") + "Z";
  const drawing = svg("svg", {
    class: "map", viewBox: `0 0 ${width} ${height}`, role: "img", pointerleave: () => tell(""),
    "aria-label": `A map${regions.length ? `, with the outline of ${many(regions.length, "region", "regions")},` : ""} of ${[data.points.length ? many(data.points.length, "point", "points") : "", data.cells.length ? many(data.cells.length, "cell", "cells") : ""].filter(Boolean).join(" and ")}` +
      (name ? ` in ${name}` : "") + `, from ${degrees(frame.south, "N", "S")}, ${degrees(frame.west, "E", "W")} to ${degrees(frame.north, "N", "S")}, ${degrees(frame.east, "E", "W")}.`,
  });
  const clip = svg("svg", {x: left, y: top, width: w, height: h, viewBox: `${left} ${top} ${w} ${h}`});
  drawing.append(svg("rect", {class: "ground", x: left, y: top, width: w, height: h, rx: 4}));
  const step = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30].find(s => s * shrink * scale > 76) ?? 45;
  const lines = [];
  for (let lon = Math.ceil(frame.west / step) * step; lon < frame.east; lon += step) {
    lines.push(svg("line", {class: "gridline", x1: x(lon), x2: x(lon), y1: top, y2: top + h}));
    if (x(lon) > left + 34 && x(lon) < left + w - 34) lines.push(svg("text", {class: "under", x: x(lon), y: top + h + 16}, degrees(lon, "E", "W")));
  }
  for (let lat = Math.ceil(frame.south / step) * step; lat < frame.north; lat += step)
    lines.push(svg("line", {class: "gridline", x1: left, x2: left + w, y1: y(lat), y2: y(lat)}));
  drawing.append(...lines, clip);
  if (data.cells.length) {
    const {colour} = classes(data.cells);
    for (const c of data.cells) clip.append(svg("path", {
      class: "cell heat" + colour(c.level), d: outline(c.ring),
      pointerenter: () => tell(`${number(c.count)}${c.side ? ` in ${length(c.side)}` : ""} near ${degrees(c.ring[0][1], "N", "S")}, ${degrees(c.ring[0][0], "E", "W")}`),
    }));
  }
  for (const ring of regions.flatMap(r => r.rings)) clip.append(svg("path", {
    class: "region", d: outline(ring),
  }));
  const some = data.points.slice(0, mostPoints), radius = some.length > 1000 ? 2 : some.length > 100 ? 3 : 4.5;
  for (const [lon, lat] of some) clip.append(svg("circle", {
    class: "point", cx: x(lon).toFixed(1), cy: y(lat).toFixed(1), r: radius,
    pointerenter: () => tell(`${degrees(lat, "N", "S")}, ${degrees(lon, "E", "W")}`),
  }));
  for (let lat = Math.ceil(frame.south / step) * step; lat < frame.north; lat += step)
    if (y(lat) > top + 14 && y(lat) < top + h - 40) drawing.append(svg("text", {class: "inside", x: left + 6, y: y(lat) - 4}, degrees(lat, "N", "S")));
  drawing.append(svg("rect", {class: "frame", x: left, y: top, width: w, height: h, rx: 4}));
  const metre = scale / metresPerDegree;
  const bar = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000].findLast(m => m * metre < 110) ?? 1;
  drawing.append(
    svg("path", {class: "scale", d: `M${left + 10} ${top + h - 16}v6h${bar * metre}v-6`}),
    svg("text", {class: "inside", x: left + 12, y: top + h - 16}, length(bar)));
  return drawing;
}
