// Zoom of a picture: by buttons, keys, a double click, and by dragging.

import {el} from "./dom.js";

const keys = {
  "+": v => v.zoom(0.5, [0.5, 0.5]), "=": v => v.zoom(0.5, [0.5, 0.5]), "-": v => v.zoom(2, [0.5, 0.5]), 0: v => v.whole(),
  ArrowLeft: v => v.move(0.2, 0), ArrowRight: v => v.move(-0.2, 0), ArrowUp: v => v.move(0, 0.2), ArrowDown: v => v.move(0, -0.2),
};

// zoomable lets a reader zoom what is drawn in a box, and returns the buttons. The view zooms by a factor at a place, and moves;
// places and ways are parts of the box, across and down.
export function zoomable(box, view) {
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", "Picture. Plus and minus zoom, arrows move, 0 shows all.");
  box.classList.add("zoomable");
  const place = event => {
    const r = box.getBoundingClientRect();
    return [(event.clientX - r.left) / r.width, (event.clientY - r.top) / r.height];
  };
  let from = null;
  box.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key](view);
  });
  box.addEventListener("dblclick", event => view.zoom(0.5, place(event)));
  box.addEventListener("pointerdown", event => {
    if (event.button !== 0 || !view.zoomed()) return;
    from = place(event);
    box.setPointerCapture(event.pointerId);
  });
  box.addEventListener("pointermove", event => {
    if (!from) return;
    const to = place(event);
    view.move(to[0] - from[0], to[1] - from[1]);
    from = to;
  });
  for (const end of ["pointerup", "pointercancel"]) box.addEventListener(end, () => { from = null; });
  return [["Zoom in", "+", "+"], ["Zoom out", "−", "-"], ["Show all", "All", 0]].map(([name, sign, key]) =>
    el("button", {type: "button", "aria-label": name, title: name, click: () => keys[key](view)}, sign));
}
