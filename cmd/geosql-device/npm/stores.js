// Stores keep the text of a budget. update(change) calls change with the stored text, or '' at first, and stores the text
// that it returns, if that is another one; if change throws, nothing is stored. It resolves once the text is durable, and no
// other update, of this or of another tab, comes in between.

/** A store in memory. It ends with the page. */
export function memory() {
  let stored = ''
  return {
    async update(change) {
      stored = change(stored)
    },
  }
}

/** A store in localStorage, under a key, with a lock that all tabs of the origin share. */
export function local(key = 'geosql-device') {
  return {
    update: change => navigator.locks.request(`geosql-device ${key}`, () => {
      const stored = localStorage.getItem(key) ?? ''
      const text = change(stored)
      if (text !== stored) localStorage.setItem(key, text)
    }),
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
