// Exact private draws where the secret is. index.d.ts has the contract.
import * as check from './check.js'
import { load, once, RefusedError } from './module.js'

export { RefusedError }
export { indexed, local, memory } from './stores.js'

const ready = once(() => load(new URL('draw.wasm', import.meta.url)))

const now = () => Date.now() * 1000 // microseconds
const dropped = new FinalizationRegistry(({ module, handle }) => module.call('drop', { handle }))

class Budget {
  #store
  constructor(store) {
    if (typeof store?.update !== 'function') throw new TypeError('a budget needs a store, such as memory()')
    this.#store = store
  }

  async limit(account, unit, epsilon, window = 0) {
    const args = { account: check.account(account), unit: check.text('unit', unit), epsilon: check.number('epsilon', epsilon), window: check.number('window', window) }
    await this.update((module, document) => module.call('limit', { ...args, document, now: now() }))
  }

  async balance(account, unit) {
    const args = { account: check.account(account), unit: check.text('unit', unit), now: now() }
    const document = await this.update((_, text) => text)
    return (await ready()).call('balance', { ...args, document })
  }

  // Changes the stored text by a function of the module, which returns the new text, or an object that has it.
  async update(change) {
    const module = await ready()
    let result
    await this.#store.update(text => {
      result = change(module, text)
      return result.document ?? result
    })
    return result
  }
}

const isBudget = budget => {
  if (!(budget instanceof Budget)) throw new TypeError('budget must be a budget: draws are charged before they are made')
  return budget
}

// A mechanism has a price. Its draws are charged to an account before they are made: when charge returns, the store has it.
class Mechanism {
  #module
  #handle
  #price
  constructor(module, { handle, unit, amount, quanta }) {
    this.#module = module
    this.#handle = handle
    this.#price = { unit, epsilon: Number(amount), quanta: BigInt(quanta) }
    dropped.register(this, { module, handle })
  }

  price() {
    return { ...this.#price }
  }

  call(name, args) {
    return this.#module.call(name, { mechanism: this.#handle, ...args })
  }

  async release(budget, account, x, y) {
    const { unit, quanta } = this.#price
    await isBudget(budget).update((module, document) =>
      module.call('charge', { document, account, unit, amount: String(quanta), now: now() }))
    return this.#module.draw(this.#handle, x, y)
  }
}

class LocationMechanism extends Mechanism {
  async draw(budget, account, lat, lon) {
    const [zLat, zLon] = await this.release(budget, check.payer(account), check.latitude(lat), check.longitude(lon))
    return { lat: zLat, lon: zLon }
  }

  radius(p) {
    return this.call('radius', { p: check.number('p', p) })
  }

  confidence(metres) {
    return this.call('confidence', { metres: check.number('metres', metres) })
  }

  retrievalRadius(p, interest) {
    return this.call('retrieval', { p: check.number('p', p), metres: check.number('interest', interest) })
  }
}

class ReadingMechanism extends Mechanism {
  async draw(budget, account, x) {
    const [value] = await this.release(budget, check.payer(account), check.number('x', x), 0)
    return value
  }

  radius(p) {
    return this.call('within', { p: check.number('p', p) })
  }
}

class Domain {
  #module
  #handle
  constructor(module, { handle, kappa, text }) {
    this.#module = module
    this.#handle = handle
    this.kappa = kappa
    this.text = text
  }

  #mechanism(name, setting, epsilon) {
    return new LocationMechanism(this.#module, this.#module.call('mechanism', { domain: this.#handle, name, epsilon: check.positive(setting, epsilon) }))
  }

  laplace(epsilon) {
    return this.#mechanism('laplace', 'epsilon', epsilon)
  }

  laplaceL1(epsilon) {
    return this.#mechanism('laplace_l1', 'epsilon', epsilon)
  }

  gauss(rho) {
    return this.#mechanism('gauss', 'rho', rho)
  }

  remap(prior) {
    const places = prior.map(({ lat, lon, weight }) => ({ lat: check.latitude(lat), lon: check.longitude(lon), weight: check.positive('weight', weight) }))
    const { handle } = this.#module.call('prior', { domain: this.#handle, places })
    return (lat, lon, epsilon) =>
      this.#module.call('remap', { prior: handle, lat: check.latitude(lat), lon: check.longitude(lon), epsilon: check.positive('epsilon', epsilon) })
  }

  smooth(points) {
    const checked = points.map(({ time, lat, lon, epsilon }) => ({
      t: check.time(time) / 1e6,
      lat: lat == null ? null : check.latitude(lat),
      lon: lon == null ? null : check.longitude(lon),
      epsilon: check.positive('epsilon', epsilon),
    }))
    return this.#module.call('smooth', { domain: this.#handle, points: checked })
  }

  trace(mechanism, policy, state) {
    return new Trace(this.#module, { domain: this.#handle, mechanism, policy: JSON.stringify(policy) }, state)
  }
}

class Universe {
  #module
  #handle
  constructor(module, { handle, text }) {
    this.#module = module
    this.#handle = handle
    this.text = text
  }

  value(epsilon) {
    return new ReadingMechanism(this.#module, this.#module.call('value', { universe: this.#handle, epsilon: check.positive('epsilon', epsilon) }))
  }

  trace(mechanism, policy, state) {
    return new Trace(this.#module, { universe: this.#handle, mechanism, policy: JSON.stringify(policy) }, state)
  }
}

// A step is charged in one update of the store, drawn, and ended in another one.
class Trace extends Mechanism {
  #module
  #trace
  #state
  #readings
  constructor(module, declared, state) {
    const trace = module.call('trace', declared)
    super(module, trace)
    this.#module = module
    this.#trace = trace.handle
    this.#state = state
    this.#readings = 'universe' in declared
  }

  async step(budget, account, name, time, x, y) {
    const who = { account: check.payer(account), name: check.text('name', name) }
    const secret = this.#readings ? [check.number('x', x), 0] : [check.latitude(x), check.longitude(y)]
    const t = check.time(time)
    const begun = await isBudget(budget).update((module, document) =>
      module.call('begin', { ...who, trace: this.#trace, document, state: this.#state, now: now(), t }))
    const numbers = this.#module.draw(begun.handle, ...secret)
    await budget.update((module, document) => module.call('end', { step: begun.handle, document, now: now() }))
    const [hard, tested, spent] = numbers.slice(-3)
    const report = this.#readings ? { x: numbers[0] } : { lat: numbers[0], lon: numbers[1] }
    return { ...report, hard: hard === 1, tested: tested === 1, spent }
  }

  async state(budget, account, name) {
    const document = await isBudget(budget).update((_, text) => text)
    return this.#module.call('run', { document, account: check.payer(account), name: check.text('name', name) }) ?? undefined
  }
}

export async function domain({ name = '', south, west, north, east, stepM, region = '' }) {
  const box = Object.entries({ south, west, north, east, stepM }).map(([key, x]) => [key, check.number(key, x)])
  const module = await ready()
  return new Domain(module, module.call('domain', { name, region, ...Object.fromEntries(box) }))
}

export async function universe({ name = '', lo, hi, step, unit }) {
  const range = Object.entries({ lo, hi, step }).map(([key, x]) => [key, check.number(key, x)])
  const module = await ready()
  return new Universe(module, module.call('universe', { name, unit: check.text('unit', unit), ...Object.fromEntries(range) }))
}

export function budget(store) {
  return new Budget(store)
}
