// What epsilon does to a sum: a household's month, and the noise that hides an evening in it.

// The kWh of each day of a made-up April: a cold first week, washing at weekends, and five days away.
const days = Array.from({ length: 30 }, (_, day) => {
  const cold = Math.max(0, 4 - day / 2)
  const weekend = day % 7 > 4 ? 3.5 : 0
  const away = day > 16 && day < 22
  return away ? 1.1 : Number((6.2 + cold + weekend + 1.3 * Math.sin(day * 2.3)).toFixed(2))
})
const month = Number(days.reduce((sum, kWh) => sum + kWh, 0).toFixed(2))
const universe = { name: 'month', lo: 0, hi: 1000, step: 0.01, unit: 'kWh' }
const evening = 3 // kWh

const layout = `
  <svg class="month" role="img" viewBox="0 0 300 110" aria-label="Bars of a made-up household's days in April, in kWh">
    ${days.map((kWh, day) => `<rect x="${10 * day + 1}" y="${100 - 8 * kWh}" width="8" height="${8 * kWh}"/>`).join('')}
    <path class="axis" d="M0 100H300"/>
  </svg>
  <div class="controls">
    <label>Hide an evening of ${evening} kWh <output class="name"></output>
      <input type="range" name="evening" min="0" max="100" value="50"></label>
    <dl>
      <dt>epsilon</dt><dd class="epsilon"></dd>
      <dt>95 of 100 draws are within</dt><dd class="within"></dd>
      <dt>without the evening, a draw is as likely up to a factor of</dt><dd class="factor"></dd>
      <dt>the true sum, which stays on the device</dt><dd>${month} kWh</dd>
    </dl>
    <p><button class="once">Draw the sum</button></p>
    <p class="said" role="status"></p>
  </div>`

// Shows the figure in an element, with the module geosql-device.
export async function showHousehold(root, device) {
  const sum = await device.universe(universe)
  const budget = device.budget(device.memory())
  await budget.limit('*', 'kWh', 9e6) // a figure never ends
  root.innerHTML = layout
  const part = selector => root.querySelector(selector)
  let query

  function show() {
    const epsilon = Number((0.02 * 500 ** (part('input').value / 100)).toPrecision(2))
    query = sum.value(epsilon)
    const factor = Math.exp(evening * epsilon)
    const name = factor < 2 ? 'well' : factor < 10 ? 'a little' : 'hardly'
    part('.name').textContent = name
    part('input').setAttribute('aria-valuetext', `${name}, epsilon ${epsilon} per kWh`)
    part('.epsilon').textContent = `${epsilon} per kWh`
    part('.within').textContent = `${query.radius(0.95).toPrecision(2) * 1} kWh`
    part('.factor').textContent = factor < 1e6 ? factor.toPrecision(3) * 1 : factor.toExponential(1)
    part('.said').textContent = ''
  }

  async function once() {
    const value = await query.draw(budget, 'household', month)
    part('.said').textContent = `The noisy sum is ${value} kWh, ${Math.abs(value - month).toFixed(2)} kWh from the true one.`
  }

  part('input').addEventListener('input', show)
  part('.once').addEventListener('click', once)
  show()
}
