// Writes countries.csv: a box of latitudes and longitudes for each country, rounded outward
// to 0.1 degrees. Run it where npm has installed world-atlas and topojson-client:
//
//	npm install --no-save world-atlas topojson-client
//	node internal/boxes/countries.mjs > internal/boxes/countries.csv
//
// A box is that of a country's largest piece of land and of all pieces near it, since overseas
// territories would make a box of half an ocean. Longitudes are counted from that piece, so
// that a country on both sides of the antimeridian has west > east.

import { createRequire } from 'node:module'
import { join } from 'node:path'

const require = createRequire(join(process.cwd(), 'package.json'))
const { feature } = require('topojson-client')
const atlas = require('world-atlas/countries-50m.json')

const near = 5 // degrees

function boxOf(ring, middle) {
  const box = { south: 90, west: Infinity, north: -90, east: -Infinity }
  for (const [x, lat] of ring) {
    const lon = x + 360 * Math.round((middle - x) / 360)
    box.south = Math.min(box.south, lat)
    box.north = Math.max(box.north, lat)
    box.west = Math.min(box.west, lon)
    box.east = Math.max(box.east, lon)
  }
  return box
}

const size = b => (b.north - b.south) * (b.east - b.west) * Math.cos((b.north + b.south) * Math.PI / 360)
const apart = (a, b) => Math.max(a.south - b.north, b.south - a.north, a.west - b.east, b.west - a.east)
const union = (a, b) => ({
  south: Math.min(a.south, b.south), west: Math.min(a.west, b.west),
  north: Math.max(a.north, b.north), east: Math.max(a.east, b.east),
})

function countryBox(geometry) {
  const polygons = geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates
  const rings = polygons.map(p => p[0])
  const largest = rings.map(r => boxOf(r, r[0][0])).reduce((a, b) => size(b) > size(a) ? b : a)
  const middle = (largest.west + largest.east) / 2
  const rest = rings.map(r => boxOf(r, middle))
  let box = largest
  for (let before; before !== box;) {
    before = box
    for (const other of rest) {
      if (apart(box, other) > near) continue
      const joined = union(box, other)
      if (size(joined) > size(box)) box = joined
    }
  }
  return box
}

const down = x => (Math.floor(x * 10 - 1e-9) / 10).toFixed(1)
const up = x => (Math.ceil(x * 10 + 1e-9) / 10).toFixed(1)
const turn = x => x > 180 ? x - 360 : x < -180 ? x + 360 : x
const quote = s => /[",]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s

console.log('name,south,west,north,east')
feature(atlas, atlas.objects.countries).features
  .map(f => ({ name: f.properties.name, box: countryBox(f.geometry) }))
  .sort((a, b) => a.name < b.name ? -1 : 1)
  .forEach(({ name, box }) => console.log([
    quote(name), Math.max(-90, down(box.south)).toFixed(1), down(turn(box.west)), Math.min(90, up(box.north)).toFixed(1), up(turn(box.east)),
  ].join(',')))
