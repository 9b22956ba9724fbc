// Stores keep the text of a budget. update(change) calls change with the stored text, or '' at first, and stores the text
// that it returns, if that is another one; if change throws, nothing is stored. It resolves once the text is durable, and no
// other update, of this or of another tab, comes in between.

import { once } from './module.js'

/** A store in memory. It ends with the page. */
export function memory() {
  let stored = ''
  return {
    async update(change) {
      stored = change(stored)
    },
  }
}

const sleep = milliseconds => new Promise(resolve => setTimeout(resolve, milliseconds))

// Returns once this page has the budget of a key, until the page is left.
const own = key => new Promise((resolve, reject) => {
  navigator.locks.request(`geosql-device local ${key}`, { ifAvailable: true }, async lock => {
    if (!lock) throw new Error(`another page has the budget '${key}' in localStorage: close it, or keep the budget in indexed()`)
    await sleep(1000) // until the last writes of a page that had it before are seen here
    resolve()
    return new Promise(() => {})
  }).catch(reject)
})

const owned = new Map()

/**
 * A store in localStorage, under a key, for one page at a time. The writes of another page arrive after a while only, under a lock too
 * (measured in chromium: two tabs that take turns exceed a limit), so that the page keeps the lock until it is left.
 */
export function local(key = 'geosql-device') {
  if (!owned.has(key)) owned.set(key, once(() => own(key)))
  return {
    async update(change) {
      await owned.get(key)()
      const stored = localStorage.getItem(key) ?? ''
      const text = change(stored)
      if (text !== stored) localStorage.setItem(key, text)
    },
  }
}

const done = request => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result)
  request.onerror = () => reject(request.error)
})

/**
 * A store in IndexedDB, for pages and workers. Each update is one transaction of strict durability, under a lock that all tabs
 * of the origin share, and is over when the browser says that it is complete.
 */
export function indexed(name = 'geosql-device') {
  const open = async () => {
    const request = indexedDB.open(name, 1)
    request.onupgradeneeded = () => request.result.createObjectStore('budget')
    return done(request)
  }
  return {
    update: change => navigator.locks.request(`geosql-device ${name}`, async () => {
      const database = await open()
      try {
        const transaction = database.transaction('budget', 'readwrite', { durability: 'strict' })
        const complete = new Promise((resolve, reject) => {
          transaction.oncomplete = resolve
          transaction.onabort = () => reject(transaction.error ?? new Error('the budget could not be stored'))
        })
        const budget = transaction.objectStore('budget')
        let stored, text
        try {
          stored = await done(budget.get('text')) ?? ''
          text = change(stored)
        } catch (error) {
          complete.catch(() => {})
          transaction.abort()
          throw error
        }
        if (text !== stored) budget.put(text, 'text')
        await complete
      } finally {
        database.close()
      }
    }),
  }
}
