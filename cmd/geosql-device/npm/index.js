// Exact private draws where the secret is. index.d.ts has the contract.
import * as check from './check.js'
import { ready } from './draw.js'

export { RefusedError } from './module.js'
export { indexed, local, memory } from './stores.js'

const now = () => Date.now() * 1000 // microseconds
const dropped = new FinalizationRegistry(({ module, handle }) => module.drop(handle))

class Budget {
  #store
  constructor(store) {
    if (typeof store?.update !== 'function') throw new TypeError('a budget needs a store, such as memory()')
    this.#store = store
  }

  async limit(account, unit, epsilon, window = 0) {
    const name = check.account(account)
    const args = [check.text('unit', unit), check.number('epsilon', epsilon), check.number('window', window)]
    await this.update((module, document) => module.limit(document, name, now(), ...args))
  }

  async balance(account, unit) {
    const name = check.account(account)
    check.text('unit', unit)
    const document = await this.update((_, text) => text)
    return (await ready()).balance(document, name, now(), unit)
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
  #price
  constructor(module, { handle, unit, epsilon, quanta }) {
    this.module = module
    this.handle = handle
    this.#price = { unit, epsilon, quanta: BigInt(quanta) }
    dropped.register(this, { module, handle })
  }

  price() {
    return { ...this.#price }
  }

  async release(budget, account, x, y) {
    const { unit, quanta } = this.#price
    await isBudget(budget).update((module, document) =>
      module.charge(document, account, now(), unit, String(quanta)))
    return this.module.draw(this.handle, x, y)
  }
}

class LocationMechanism extends Mechanism {
  async draw(budget, account, lat, lon) {
    const [zLat, zLon] = await this.release(budget, check.payer(account), check.latitude(lat), check.longitude(lon))
    return { lat: zLat, lon: zLon }
  }

  radius(p) {
    return this.module.radius(this.handle, check.number('p', p))
  }

  confidence(metres) {
    return this.module.confidence(this.handle, check.number('metres', metres))
  }

  retrievalRadius(p, interest) {
    return this.module.retrieval(this.handle, check.number('p', p), check.number('interest', interest))
  }
}

class ReadingMechanism extends Mechanism {
  async draw(budget, account, x) {
    const [value] = await this.release(budget, check.payer(account), check.number('x', x), 0)
    return value
  }

  radius(p) {
    return this.module.within(this.handle, check.number('p', p))
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
    return new LocationMechanism(this.#module, this.#module.mechanism(this.#handle, name, check.positive(setting, epsilon)))
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
    const places = prior.flatMap(({ lat, lon, weight }) => [check.latitude(lat), check.longitude(lon), check.positive('weight', weight)])
    const handle = this.#module.prior(this.#handle, Float64Array.from(places))
    return (lat, lon, epsilon) => {
      const [zLat, zLon] = this.#module.remap(handle, check.positive('epsilon', epsilon), check.latitude(lat), check.longitude(lon))
      return { lat: zLat, lon: zLon }
    }
  }

  smooth(points) {
    const numbers = points.flatMap(({ time, lat, lon, epsilon }) => [
      check.time(time) / 1e6,
      lat == null ? NaN : check.latitude(lat),
      lon == null ? NaN : check.longitude(lon),
      check.positive('epsilon', epsilon),
    ])
    const estimates = this.#module.smooth(this.#handle, Float64Array.from(numbers))
    return points.map((_, i) => (Number.isNaN(estimates[2 * i]) ? null : { lat: estimates[2 * i], lon: estimates[2 * i + 1] }))
  }

  trace(mechanism, policy, state) {
    return new Trace(this.#module, false, this.#handle, mechanism, policy, state)
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
    return new ReadingMechanism(this.#module, this.#module.value(this.#handle, check.positive('epsilon', epsilon)))
  }

  trace(mechanism, policy, state) {
    return new Trace(this.#module, true, this.#handle, mechanism, policy, state)
  }
}

// A step is charged in one update of the store, drawn, and ended in another one.
class Trace extends Mechanism {
  #state
  #readings
  constructor(module, readings, space, mechanism, policy, state = '') {
    const settings = Object.entries(policy).filter(([, x]) => x !== undefined)
    super(module, module.trace(readings, space, String(mechanism), settings.flat()))
    this.#state = state
    this.#readings = readings
  }

  async step(budget, account, name, time, x, y) {
    const payer = check.payer(account)
    check.text('name', name)
    const secret = this.#readings ? [check.number('x', x), 0] : [check.latitude(x), check.longitude(y)]
    const t = check.time(time)
    const begun = await isBudget(budget).update((module, document) =>
      module.begin(document, payer, now(), this.handle, name, this.#state, t))
    const numbers = this.module.draw(begun.handle, ...secret)
    await budget.update((module, document) => module.end(document, payer, now(), begun.handle))
    const [hard, tested, spent] = numbers.slice(-3)
    const report = this.#readings ? { x: numbers[0] } : { lat: numbers[0], lon: numbers[1] }
    return { ...report, hard: hard === 1, tested: tested === 1, spent }
  }

  async state(budget, account, name) {
    const payer = check.payer(account)
    check.text('name', name)
    const document = await isBudget(budget).update((_, text) => text)
    return this.module.run(document, payer, now(), name)
  }
}

export async function domain({ name = '', south, west, north, east, stepM, region = '' }) {
  const box = Object.entries({ south, west, north, east, stepM }).map(([key, x]) => check.number(key, x))
  const module = await ready()
  return new Domain(module, module.domain(String(name), ...box, String(region)))
}

export async function universe({ name = '', lo, hi, step, unit }) {
  const range = Object.entries({ lo, hi, step }).map(([key, x]) => check.number(key, x))
  check.text('unit', unit)
  const module = await ready()
  return new Universe(module, module.universe(String(name), ...range, unit))
}

export function budget(store) {
  return new Budget(store)
}
