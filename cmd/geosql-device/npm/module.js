// Loads a module of WebAssembly that Go has made, and calls it.
import './wasm_exec.js'

/** A draw or an announcement for which an account does not have enough left. Nothing was charged. */
export class RefusedError extends Error {
  constructor(message, details) {
    super(message)
    this.name = 'RefusedError'
    Object.assign(this, details)
  }
}

const read = async url => {
  if (url.protocol !== 'file:') return (await fetch(url)).arrayBuffer()
  const files = 'node:fs/promises' // no bundler follows it
  return (await import(/* @vite-ignore */ /* webpackIgnore: true */ files)).readFile(url)
}

/** Returns a function that loads a module at its first call, and again if that has failed. */
export function once(load) {
  let loaded
  return () => (loaded ??= load().catch(error => {
    loaded = undefined
    throw error
  }))
}

/** Returns an instance of the module at a URL, for go.run. */
export async function instantiate(url, go) {
  if (typeof globalThis.crypto?.getRandomValues !== 'function') throw new Error('there is no crypto.getRandomValues: nothing is private without it')
  const { instance } = await WebAssembly.instantiate(await read(url), go.importObject)
  return instance
}

/** Returns the module at a URL, ready to be called. */
export async function load(url) {
  const go = new Go()
  let memory
  go.importObject.geosql = {
    // Fills bytes of the module's memory, without a copy elsewhere.
    getRandomValues(at, n) {
      try {
        crypto.getRandomValues(new Uint8Array(memory.buffer, at, n))
        return 1
      } catch {
        return 0
      }
    },
  }
  const instance = await instantiate(url, go)
  const { buffer, call, draw, mem } = instance.exports
  memory = mem
  go.run(instance)
  const encoder = new TextEncoder()
  const decoder = new TextDecoder()
  const text = n => decoder.decode(new Uint8Array(mem.buffer, buffer(0), n))
  return {
    // Calls a function with arguments that JSON has, and returns its result.
    call(name, args) {
      const request = encoder.encode(JSON.stringify({ function: name, arguments: args }))
      const at = buffer(request.length)
      new Uint8Array(mem.buffer, at, request.length).set(request)
      const answer = JSON.parse(text(call(request.length)))
      if (answer.more) throw new RefusedError(answer.error, answer.more)
      if (answer.error) throw new Error(answer.error)
      return answer.value
    },
    // Draws for the secret x, y, and returns the numbers of the draw.
    draw(handle, x, y) {
      const n = draw(handle, x, y)
      if (n < 0) throw new Error(text(-n))
      const view = new DataView(mem.buffer, buffer(0), 8 * n)
      return Array.from({ length: n }, (_, i) => view.getFloat64(8 * i, true))
    },
  }
}
