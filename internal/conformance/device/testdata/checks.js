// Checks of package geosql-device that run in Node, in pages and in workers alike. run throws at the first that fails.

const BOX = { name: 'town', south: 47.3, west: 8.4, north: 47.5, east: 8.7, stepM: 10 }
const METER = { name: 'meter', lo: 0, hi: 4, step: 1, unit: 'kWh' }

function check(ok, what) {
  if (!ok) throw new Error(what)
}

async function fails(promise, type, words) {
  const error = await Promise.resolve().then(promise).then(() => undefined, e => e)
  check(error instanceof type, `${words}: ${error}`)
  check(error.message.includes(words), `not "${words}" but "${error.message}"`)
  return error
}

// Runs work with another crypto.getRandomValues.
async function withEntropy(fill, work) {
  Object.defineProperty(crypto, 'getRandomValues', { value: fill, configurable: true })
  try {
    return await work()
  } finally {
    delete crypto.getRandomValues
  }
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b)

const base64 = text => Uint8Array.from(atob(text), c => c.charCodeAt(0))

const checks = {
  // Numbers and draws are those of the Go packages, bit for bit, from the same random bytes.
  async golden(device, { numbers, entropy, draws }) {
    const town = await device.domain(BOX)
    const meter = await device.universe(METER)
    const budget = device.budget(device.memory())
    await budget.limit('*', 'm', 1e6)
    await budget.limit('*', 'm2', 1e6)
    await budget.limit('*', 'kWh', 1e6)
    const mechanisms = { laplace: town.laplace(0.01), laplaceL1: town.laplaceL1(0.01), gauss: town.gauss(0.0001), value: meter.value(0.5) }
    check(town.kappa === numbers.kappa, `kappa is ${town.kappa}`)
    for (const [name, { radii, confidence, unit, quanta }] of Object.entries(numbers.mechanisms)) {
      const m = mechanisms[name]
      check(same([0.5, 0.95].map(p => m.radius(p)), radii), `radii of ${name} are not those of Go`)
      check(name === 'value' || m.confidence(100) === confidence, `confidence of ${name} is not that of Go`)
      check(m.price().unit === unit && String(m.price().quanta) === quanta, `the price of ${name} is not that of Go`)
    }
    const bytes = base64(entropy)
    let next = 0
    await withEntropy(view => view.set(bytes.subarray(next, next += view.length)), async () => {
      for (const { mechanism, secret, drawn } of draws) {
        const z = await mechanisms[mechanism].draw(budget, 'ana', ...secret)
        check(same(typeof z === 'number' ? [z] : [z.lat, z.lon], drawn), `a draw of ${mechanism} is not that of Go`)
      }
    })
  },

  // The truncated geometric law of a value, whose probabilities Go has summed. The limit is the quantile of 1e-7.
  async chiSquared(device, { law, samples, quantile }) {
    const value = (await device.universe(METER)).value(1)
    const budget = device.budget(device.memory())
    await budget.limit('*', 'kWh', 1e6)
    const seen = law.map(() => 0)
    for (let i = 0; i < samples; i++) seen[await value.draw(budget, 'ana', 1)]++
    const statistic = law.reduce((sum, p, k) => sum + (seen[k] - samples * p) ** 2 / (samples * p), 0)
    check(statistic < quantile, `chi-squared is ${statistic}, of ${seen}`)
  },

  // No charge above a limit, whatever happens at the same time, in any store.
  async limits(device, _, stores) {
    const value = (await device.universe(METER)).value(1)
    for (const store of stores) {
      const budget = device.budget(store)
      await fails(() => value.draw(budget, 'ben', 1), device.RefusedError, 'ben')
      await budget.limit('*', 'kWh', 5)
      await budget.limit('ben', 'kWh', 3)
      const all = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => value.draw(budget, i % 2 ? 'ben' : 'ana', 2)))
      check(all.filter(r => r.status === 'fulfilled').length === 8, 'other than 8 draws are paid for')
      const refused = all.find(r => r.status === 'rejected').reason
      check(refused instanceof device.RefusedError && refused.asked === 1 && refused.left === 0 && refused.unit === 'kWh', `refused: ${refused}`)
      check((await budget.balance('ben', 'kWh')).remaining === 0, 'ben has something left')
      check((await budget.balance('eve', 'kWh')).remaining === 5, "a limit of '*' is not each account's own")
      await fails(() => value.draw(budget, '*', 1), RangeError, 'cannot be charged')
      await fails(() => value.draw(undefined, 'ana', 1), TypeError, 'budget')
      await fails(() => value.draw(budget, 'ana', NaN), TypeError, 'x must be a finite number')
    }
  },

  // Ten charges of 0.1 are 1.
  async decimals(device) {
    const value = (await device.universe(METER)).value(0.1)
    const budget = device.budget(device.memory())
    await budget.limit('ana', 'kWh', 1)
    for (let i = 0; i < 10; i++) await value.draw(budget, 'ana', 1)
    await fails(() => value.draw(budget, 'ana', 1), device.RefusedError, 'ana')
    check((await budget.balance('ana', 'kWh')).spent === 1, 'ten charges of 0.1 are not 1')
  },

  // The charge is stored when the random bytes of the draw are read, and no refusal reads any.
  async order(device) {
    const value = (await device.universe(METER)).value(1)
    const inner = device.memory()
    let stored = 0
    const budget = device.budget({
      async update(change) {
        await inner.update(change)
        await new Promise(resolve => setTimeout(resolve, 5)) // as a disk has it
        stored++
      },
    })
    await budget.limit('ana', 'kWh', 2)
    const read = crypto.getRandomValues.bind(crypto)
    const before = []
    await withEntropy(view => { before.push(stored); return read(view) }, async () => {
      await value.draw(budget, 'ana', 1)
      await value.draw(budget, 'ana', 1)
      await value.draw(budget, 'ana', 1).catch(() => {})
    })
    check(same(before, [2, 3]), `random bytes are read after ${before} writes, not after 2 and 3`)
    let failed = false
    const broken = device.budget({ async update(change) { change(''); throw new Error('the disk is full') } })
    await withEntropy(() => { failed = true }, () => value.draw(broken, 'ana', 1).catch(() => {}))
    check(!failed, 'a draw is made whose charge was not stored')
  },

  // Without random bytes there is no draw, and the charge stays.
  async entropy(device) {
    const value = (await device.universe(METER)).value(1)
    const budget = device.budget(device.memory())
    await budget.limit('ana', 'kWh', 5)
    await withEntropy(() => { throw new Error('no entropy') }, () =>
      fails(() => value.draw(budget, 'ana', 1), Error, 'crypto.getRandomValues failed'))
    check((await budget.balance('ana', 'kWh')).spent === 1, 'a failed draw returns its charge')
    await value.draw(budget, 'ana', 1) // the module goes on
  },

  // After a draw, the module's memory has none of the random bytes.
  async erased(device) {
    const laplace = (await device.domain(BOX)).laplace(0.01)
    const budget = device.budget(device.memory())
    await budget.limit('ana', 'm', 1)
    const read = crypto.getRandomValues.bind(crypto)
    let memory, bytes
    await withEntropy(view => { memory = view.buffer; read(view); bytes = view.slice() }, () => laplace.draw(budget, 'ana', 47.4, 8.5))
    check(bytes?.length >= 64, 'no random bytes are read')
    const all = new Uint8Array(memory)
    for (let at = all.indexOf(bytes[40]); at >= 0; at = all.indexOf(bytes[40], at + 1)) {
      check(!bytes.subarray(40, 56).every((b, i) => all[at + i] === b), 'random bytes are left in memory')
    }
  },

  // A trace spends its epsilon once, whatever is interrupted.
  async traces(device) {
    const policy = { epsilon: 0.1, steps: 5 }
    const town = await device.domain(BOX)
    const trace = town.trace('predictive', policy)
    const budget = device.budget(device.memory())
    await budget.limit('ana', 'm', 1)
    let spent = 0
    const start = Date.UTC(2026, 0, 1)
    let i = 0
    const step = () => trace.step(budget, 'ana', 'walk', start + 60_000 * i++, 47.4, 8.5)
    for (let taken = 0; taken < 2; taken++) {
      const p = await step()
      check(p.hard || p.tested, 'a report is neither hard nor tested')
      spent += p.spent
    }
    const close = x => Math.abs((x - spent) * 1e12) < 2
    check(close((await budget.balance('ana', 'm')).spent), 'the balance is not the sum of the run')
    await withEntropy(() => { throw new Error('no entropy') }, () => fails(step, Error, 'crypto'))
    const lost = (await budget.balance('ana', 'm')).spent
    check(lost > spent + 1e-6, 'an interrupted step costs nothing')
    for (let more = 0; more < 20; more++) if (await step().catch(() => true) === true) break
    const balance = await budget.balance('ana', 'm')
    check(balance.spent <= 0.1 + 1e-12, `a trace of epsilon 0.1 has spent ${balance.spent}`)
    // Its state goes on elsewhere.
    const state = await trace.state(budget, 'ana', 'walk')
    const elsewhere = device.budget(device.memory())
    await elsewhere.limit('ana', 'm', 1)
    await fails(() => town.trace('predictive', policy, state).step(elsewhere, 'ana', 'walk', start + 1e9, 47.4, 8.5), Error, 'stopped')
  },

  // Statements of the conformance scripts that have a counterpart: what is refused and in which words.
  async statements(device) {
    const town = await device.domain(BOX)
    await fails(() => device.domain({ ...BOX, stepM: 0 }), Error, 'step')
    await fails(() => device.domain({ ...BOX, south: 50 }), Error, 'south')
    await fails(() => device.universe({ ...METER, unit: 'm' }), Error, 'unit "m" is reserved')
    await fails(() => device.universe({ ...METER, hi: -1 }), Error, 'hi')
    await fails(() => town.laplace(0), RangeError, 'above 0')
    await fails(() => town.laplace(1e9), Error, 'epsilon')
    await fails(() => town.trace('predictive', { epsilon: 0.1 }), Error, 'steps is missing')
    await fails(() => town.trace('predictive', { epsilon: 0.1, step: 3 }), Error, 'key "step" is unknown')
    const budget = device.budget(device.memory())
    await fails(() => budget.limit('ana', 'm', -1), Error, 'epsilon must not be below 0')
    await fails(() => budget.limit('ana', 'm', 1e7), Error, 'epsilon must be at most 9000000')
    await budget.limit('ana', 'm', 0)
    await fails(() => town.laplace(0.01).draw(budget, 'ana', 47.4, 8.5), device.RefusedError, 'ana')
    await fails(() => town.laplace(0.01).draw(budget, 'ana', 91, 8.5), RangeError, 'lat must lie between -90 and 90')
    const { lat, lon } = town.remap([{ lat: 47.4, lon: 8.5, weight: 1 }])(47.45, 8.6, 0.01)
    check(Math.hypot(lat - 47.4, lon - 8.5) < 1e-3, 'remap does not answer the only place of its prior')
    const points = [0, 1, 2].map(i => ({ time: 60_000 * i, lat: 47.4, lon: 8.5, epsilon: 0.01 }))
    check(town.smooth(points).every(p => Math.hypot(p.lat - 47.4, p.lon - 8.5) < 1e-3), 'smooth moves a trace that rests')
  },
}

/** Runs the checks, or one of them, and returns how many. */
export async function run(url, expected, { only, stores } = {}) {
  const device = await import(url)
  const names = only ? [only] : Object.keys(checks)
  for (const name of names) {
    try {
      await checks[name](device, expected, stores?.(device) ?? [device.memory()])
    } catch (error) {
      throw new Error(`${name}: ${error.message}`)
    }
  }
  return names.length
}
