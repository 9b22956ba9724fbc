// The module draw.wasm.
import { call, load, once } from './module.js'

/** Returns the functions of the module, and draw. */
export const ready = once(async () => {
  let memory
  const geosql = {
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
  const { exports, functions } = await load(new URL('draw.wasm', import.meta.url), { geosql })
  memory = exports.mem
  const module = Object.fromEntries(Object.entries(functions).map(([name, f]) => [name, (...args) => call(f, ...args)]))
  // Draws for the secret x, y, and returns the numbers of the draw.
  module.draw = (handle, x, y) => {
    const n = exports.draw(handle, x, y)
    if (n < 0) throw new Error(new TextDecoder().decode(new Uint8Array(memory.buffer, exports.failure(), -n)))
    return Array.from(new Float64Array(memory.buffer, exports.numbers(), n))
  }
  return module
})
