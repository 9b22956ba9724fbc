// Draws until the budget is used up, or, with mode 'hang', stops between a charge and its draw.
onmessage = async ({ data: { index, mode, name } }) => {
  const device = await import(index)
  const value = (await device.universe({ name: 'meter', lo: 0, hi: 4, step: 1, unit: 'kWh' })).value(1)
  const store = device.indexed(name)
  if (mode === 'hang') {
    const update = store.update
    store.update = async change => {
      await update(change)
      postMessage('charged')
      await new Promise(() => {})
    }
    return value.draw(device.budget(store), 'ana', 2)
  }
  let drawn = 0
  try {
    for (;;) {
      await value.draw(device.budget(store), 'ana', 2)
      drawn++
    }
  } catch (error) {
    postMessage(error instanceof device.RefusedError ? drawn : String(error))
  }
}
