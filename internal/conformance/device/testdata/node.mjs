// Runs the checks in Node: node.mjs INDEX EXPECTED [CHECK]
import { readFileSync } from 'node:fs'
import { run } from './checks.js'

const [, , index, expected, only] = process.argv
run(index, JSON.parse(readFileSync(expected)), { only }).then(n => console.log(`${n} checks`), error => {
  console.error(error.message)
  process.exitCode = 1
})
