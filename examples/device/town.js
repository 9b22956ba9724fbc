// A made-up town, in metres to the east (x) and to the north (y) of its centre: a coast, a river, and quarters with streets.
// The quarters are the Voronoi cells of points on a spiral, and their streets are lines that are cut at the borders.

const radius = 7000 // of the town
const coast = -4200 // the sea is to the south of it

// A half-plane {x, y, to} is where x·X + y·Y <= to.
const quarters = Array.from({ length: 60 }, (_, i) => {
  const r = radius * ((i + 0.5) / 60) ** 0.7
  const turn = i * 2.39996 // the golden angle
  return { x: r * Math.cos(turn), y: r * Math.sin(turn) }
})

const borders = quarters.map(a => quarters.filter(b => b !== a).map(b => ({
  x: b.x - a.x, y: b.y - a.y, to: (b.x * b.x + b.y * b.y - a.x * a.x - a.y * a.y) / 2, beyond: b,
})))

const limits = [
  { x: 0, y: -1, to: 800 - coast }, // under the sea, which is drawn above
  ...Array.from({ length: 24 }, (_, i) => ({ x: Math.cos(i * Math.PI / 12), y: Math.sin(i * Math.PI / 12), to: radius })),
]

// Returns the part of the line through p in direction d that lies in all half-planes, as a path, or nothing.
function cut(p, d, halfPlanes) {
  let from = -1e5
  let to = 1e5
  for (const h of halfPlanes) {
    const slope = h.x * d.x + h.y * d.y
    const at = (h.to - h.x * p.x - h.y * p.y) / slope
    if (slope > 0) to = Math.min(to, at)
    else if (slope < 0) from = Math.max(from, at)
  }
  if (!(from < to)) return ''
  const end = t => `${(p.x + t * d.x).toFixed(1)} ${(p.y + t * d.y).toFixed(1)}`
  return `M${end(from)}L${end(to)}`
}

// The roads between a quarter and its neighbours.
const roads = quarters.map((_, i) => borders[i].filter(b => quarters.indexOf(b.beyond) > i).map(b => {
  const square = b.x * b.x + b.y * b.y
  const middle = { x: b.x * b.to / square, y: b.y * b.to / square }
  return cut(middle, { x: -b.y, y: b.x }, [...borders[i].filter(o => o !== b), ...limits])
}).join('')).join('')

// The streets of a quarter are two families of parallels, 80 to 140 m apart.
const streets = quarters.map((centre, i) => {
  const turn = i * 0.7
  return [turn, turn + Math.PI / 2].map((angle, family) => {
    const d = { x: Math.cos(angle), y: Math.sin(angle) }
    const apart = 80 + (i * 37 + family * 23) % 60
    return Array.from({ length: 61 }, (_, k) => k - 30)
      .map(k => cut({ x: centre.x - k * apart * d.y, y: centre.y + k * apart * d.x }, d, [...borders[i], ...limits])).join('')
  }).join('')
}).join('')

// Paths of SVG.
export const town = {
  sea: `M-20000 ${coast}C-9000 ${coast + 500} -4000 ${coast - 900} 0 ${coast - 200}S9000 ${coast + 700} 20000 ${coast}V-20000H-20000Z`,
  river: 'M-1500 12000C-2600 7000 1800 4200 700 1500S-1800 -2500 -300 -4800',
  roads,
  streets,
}
