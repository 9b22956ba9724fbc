// Seals rows for an owner's database where they arise. seal.d.ts has the contract.
import * as check from './check.js'
import { call as callModule, load, once } from './module.js'

const ready = once(async () => (await load(new URL('seal.wasm', import.meta.url))).functions)

let broken

// Calls a function of the module. If it throws, as when getRandomValues fails, the module has stopped amid its work and is not used again.
function call(f, ...args) {
  if (broken) throw new Error('sealing has failed before: load the page again', { cause: broken })
  return callModule((...args) => {
    try {
      return f(...args)
    } catch (error) {
      broken = error
      throw error
    }
  }, ...args)
}

const privateLabel = 'GEOSQL PRIVATE KEY'
const publicLabel = 'GEOSQL PUBLIC KEY'

const pem = (label, text) => `-----BEGIN ${label}-----\n${text.match(/.{1,64}/g).join('\n')}\n-----END ${label}-----\n`

// Returns the base64 in the text of a key. An error does not show it.
function key(name, label, text) {
  const match = typeof text === 'string' && /^-----BEGIN ([A-Z ]+)-----\r?\n([A-Za-z0-9+/=\r\n]+)-----END \1-----\r?\n$/.exec(text)
  if (!match || match[1] !== label) throw new TypeError(`${name} must be the text of a ${label}`)
  return match[2].replace(/[\r\n]/g, '')
}

/** Makes a key for this device. */
export async function collectorKey() {
  const module = await ready()
  const text = call(module.collectorKey)
  return { privateKey: pem(privateLabel, text), publicKey: pem(publicLabel, call(module.publicKey, text)) }
}

// The kinds of columns, in the order of package batch.
const cells = [
  name => {
    throw new TypeError(`${name} is the column of accounts: the account is the first argument`)
  },
  (name, x) => {
    if (typeof x !== 'string') check.number(name, x)
    return JSON.stringify(x)
  },
  check.number,
  (name, x) => [check.latitude(x?.lat), check.longitude(x?.lon)],
]

class Sealer {
  #module
  #columns
  constructor(module) {
    this.#module = module
    this.#columns = new Map(module.columns.map(({ name, kind }, at) => [name, { at, kind }]))
  }

  row(account, values) {
    const row = []
    for (const [name, x] of Object.entries(values)) {
      const column = this.#columns.get(name)
      if (!column) throw new RangeError(`there is no column ${name}`)
      if (x != null) row[column.at] = cells[column.kind](name, x)
    }
    return call(this.#module.row, check.payer(account), row)
  }

  lines() {
    return call(this.#module.lines)
  }
}

/** Returns a sealer for a table of the owner's database. */
export async function seal({ ownerKey, declaration, table, signKey }) {
  const owner = key('ownerKey', publicLabel, ownerKey)
  const signer = key('signKey', privateLabel, signKey)
  const declared = typeof declaration === 'string' ? JSON.parse(declaration) : declaration
  const module = await ready()
  return new Sealer(call(module.seal, owner, declared, check.text('table', table), signer))
}
