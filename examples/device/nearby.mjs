// Looks for cafés within 300 m without telling the service where: it sees one noisy point and a radius that was fixed before
// (Bordenabe 2014, chapter 5).
import { budget, domain, memory } from 'geosql-device'

const here = { lat: 0.0021, lon: 0.0034 } // stays on the device
const interest = 300 // m

// The service of this example: 40,000 cafés on a square, and the number of questions.
let asked = 0
async function cafesWithin(radius, { lat, lon }) {
  asked++
  const all = Array.from({ length: 40000 }, (_, i) => ({ name: `café ${i}`, lat: (i % 200 - 100) / 1000, lon: (Math.floor(i / 200) - 100) / 1000 }))
  return all.filter(cafe => metres(cafe, { lat, lon }) <= radius)
}

const metres = (a, b) => Math.hypot((a.lat - b.lat) * 110574, (a.lon - b.lon) * 111320)

const town = await domain({ name: 'town', south: -0.15, west: -0.15, north: 0.15, east: 0.15, stepM: 1 })
const noise = town.laplace(0.005)
const spent = budget(memory()) // indexed() in an app
await spent.limit('*', 'm', 0.02, 86400)

const radius = noise.retrievalRadius(0.95, interest) // the same for every place
const report = await noise.draw(spent, 'me', here.lat, here.lon)
const found = await cafesWithin(radius, report)
const near = found.filter(cafe => metres(cafe, here) <= interest)

console.log(`asked ${asked} time for ${Math.round(radius)} m around a noisy point: ${found.length > near.length}`)
console.log(`with probability 0.95 the answer holds all ${interest} m around the true one`)
console.log(`${(await spent.balance('me', 'm')).remaining} per metre are left today`)
