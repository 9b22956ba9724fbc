// What epsilon does to a location: one draw, a thousand draws, and how far off they are.
import { town } from './town.js'

// The town lies where a degree is about as long in both directions.
const metresPerDegree = { lat: 110574, lon: 111320 }
const box = { name: 'town', south: -0.15, west: -0.15, north: 0.15, east: 0.15, stepM: 1 }
const names = [[60, 'my street'], [300, 'my quarter'], [1500, 'my part of town'], [6000, 'my city']]

const layout = `
  <svg class="map" role="img" tabindex="0" viewBox="-1 -1 2 2">
    <g transform="scale(1,-1)">
      <path class="streets" d="${town.streets}"/>
      <path class="river" d="${town.river}"/>
      <path class="roads" d="${town.roads}"/>
      <path class="sea" d="${town.sea}"/>
      <path class="draws"/>
      <circle class="radius"/>
      <path class="draw"/>
      <path class="place"/>
    </g>
  </svg>
  <div class="controls">
    <label>Hide me in <output class="name"></output>
      <input type="range" name="radius" min="0" max="100" value="45"></label>
    <dl>
      <dt>epsilon</dt><dd class="epsilon"></dd>
      <dt>95 of 100 draws are within</dt><dd class="within"></dd>
      <dt>200 m away, a draw is as likely up to a factor of</dt><dd class="factor"></dd>
    </dl>
    <label>A friend looks for me within
      <select name="friend"><option>50</option><option>100</option><option selected>200</option><option>500</option><option>1000</option><option>2000</option></select>
      m of a draw, and finds me in <output class="found"></output> of 100 cases.</label>
    <p><button class="once">Draw once</button> <button class="often">Draw a thousand</button></p>
    <p class="said" role="status">Arrow keys on the map, or a click, move you.</p>
  </div>`

// Shows the figure in an element, with the module geosql-device.
export async function showPlace(root, device) {
  const domain = await device.domain(box)
  const budget = device.budget(device.memory())
  await budget.limit('*', 'm', 9e6) // a figure never ends
  root.innerHTML = layout
  const part = selector => root.querySelector(selector)
  const place = { x: 450, y: 250 }
  let mechanism, radius

  const draw = async () => {
    const secret = { lat: place.y / metresPerDegree.lat, lon: place.x / metresPerDegree.lon }
    const { lat, lon } = await mechanism.draw(budget, 'me', secret.lat, secret.lon)
    return { x: lon * metresPerDegree.lon, y: lat * metresPerDegree.lat }
  }
  const off = p => Math.hypot(p.x - place.x, p.y - place.y)
  const dots = points => points.map(p => `M${p.x.toFixed(1)} ${p.y.toFixed(1)}h0`).join('')
  const say = text => { part('.said').textContent = text }

  // Shows the place and the accuracy, and forgets draws for another place or epsilon.
  function show() {
    const wanted = 60 * 100 ** (part('input').value / 100)
    const epsilon = Number((4.744 / wanted).toPrecision(2)) // C(4.744/epsilon) is 0.95; see LaplaceLaw
    mechanism = domain.laplace(epsilon)
    radius = mechanism.radius(0.95)
    const name = names.findLast(([from]) => wanted >= from)[1]
    part('.name').textContent = name
    part('input').setAttribute('aria-valuetext', `${name}, epsilon ${epsilon} per metre, 95 % within ${metres(radius)}`)
    part('.epsilon').textContent = `${epsilon} per metre`
    part('.within').textContent = metres(radius)
    part('.factor').textContent = Math.exp(200 * epsilon).toPrecision(3)
    part('.found').textContent = percent(mechanism.confidence(Number(part('select').value)))
    const half = 1.7 * radius
    part('.map').setAttribute('viewBox', `${place.x - half} ${-place.y - half} ${2 * half} ${2 * half}`)
    part('.map').setAttribute('aria-label', `A made-up town. You are ${Math.round(place.x)} m east and ${Math.round(place.y)} m north of its centre.`)
    part('.streets').style.opacity = Math.min(1, 1500 / half)
    Object.entries({ cx: place.x, cy: place.y, r: radius }).forEach(([name, value]) => part('.radius').setAttribute(name, value))
    part('.place').setAttribute('d', dots([place]))
    part('.draw').setAttribute('d', '')
    part('.draws').setAttribute('d', '')
  }

  async function once() {
    const point = await draw()
    part('.draw').setAttribute('d', dots([point]))
    say(`The draw is ${metres(off(point))} from you. Whoever sees it cannot tell you from a neighbour by more than the factor above.`)
  }

  async function often() {
    const draws = []
    for (let i = 0; i < 1000; i++) draws.push(await draw())
    part('.draws').setAttribute('d', dots(draws))
    const inside = draws.filter(p => off(p) <= radius).length
    say(`${inside} of 1000 draws are within ${metres(radius)}. They show the law of one draw. A person who gave all of them away would have spent a thousand epsilons.`)
  }

  function move(x, y) {
    place.x = Math.max(-7000, Math.min(7000, x))
    place.y = Math.max(-4500, Math.min(7000, y))
    show()
  }
  const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }
  part('.map').addEventListener('keydown', event => {
    const step = steps[event.key]
    if (!step) return
    event.preventDefault()
    move(place.x + step[0] * radius / 5, place.y + step[1] * radius / 5)
  })
  part('.map').addEventListener('click', event => {
    const frame = part('.map').getBoundingClientRect()
    const half = 1.7 * radius
    move(place.x + ((event.clientX - frame.left) / frame.width * 2 - 1) * half, place.y - ((event.clientY - frame.top) / frame.height * 2 - 1) * half)
  })
  part('input').addEventListener('input', show)
  part('select').addEventListener('change', show)
  part('.once').addEventListener('click', once)
  part('.often').addEventListener('click', often)
  show()
}

const metres = m => m < 1000 ? `${m.toPrecision(2) * 1} m` : `${(m / 1000).toPrecision(2) * 1} km`
const percent = p => (100 * p).toFixed(p < 0.1 ? 1 : 0)
