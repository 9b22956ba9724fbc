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

/** Returns the exports of the module at a URL, and the functions that it has handed out. */
export async function load(url, imports = {}) {
  if (typeof globalThis.crypto?.getRandomValues !== 'function') throw new Error('there is no crypto.getRandomValues: nothing is private without it')
  const go = new Go()
  Object.assign(go.importObject, imports)
  const { instance } = await WebAssembly.instantiate(await read(url), go.importObject)
  const name = `geosql-device ${url}`
  go.argv = ['', name]
  let functions
  globalThis[name] = given => (functions = given)
  go.run(instance)
  delete globalThis[name]
  return { exports: instance.exports, functions }
}

/** Calls a function of a module, which returns an Error in place of throwing it. */
export function call(f, ...args) {
  const result = f(...args)
  if (!(result instanceof Error)) return result
  throw result.details ? new RefusedError(result.message, result.details) : result
}
