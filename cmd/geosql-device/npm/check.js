// Types of arguments. No message shows a secret.

export function number(name, x) {
  if (typeof x !== 'number' || !Number.isFinite(x)) throw new TypeError(`${name} must be a finite number`)
  return x
}

export function positive(name, x) {
  if (!(number(name, x) > 0)) throw new RangeError(`${name} must be above 0, got ${x}`)
  return x
}

export function text(name, x) {
  if (typeof x !== 'string' || x === '') throw new TypeError(`${name} must be a text`)
  return x
}

function degrees(name, limit, x) {
  if (Math.abs(number(name, x)) > limit) throw new RangeError(`${name} must lie between -${limit} and ${limit}`)
  return x
}

export const latitude = x => degrees('lat', 90, x)
export const longitude = x => degrees('lon', 180, x)

/** Returns the name of an account: a text, or a whole number in digits. */
export function account(x) {
  if (Number.isSafeInteger(x) || typeof x === 'bigint') return String(x)
  if (typeof x !== 'string' || x === '') throw new TypeError('account must be a text or a whole number')
  return x
}

/** Returns the name of an account that pays. */
export function payer(x) {
  if (x === '*') throw new RangeError("account '*' stands for every account and cannot be charged")
  return account(x)
}

/** Returns a time in microseconds since 1970, from a Date or milliseconds. */
export function time(x) {
  return Math.round(number('time', x instanceof Date ? x.getTime() : x) * 1000)
}
