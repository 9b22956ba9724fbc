// VitePress builds a site for one address. This makes it work at any: it is built for the address
// below, which is then replaced, in pages by a relative one, in scripts by what each page has found.
import fs from 'node:fs'
import path from 'node:path'

export const placeholder = '/__site__/'

const quoted = JSON.stringify(placeholder)
const escaped = JSON.stringify(quoted).slice(1, -1) // in text that scripts parse
const literal = new RegExp(`"${placeholder}([^"\\\\]*)"`, 'g') // in scripts

// Replaces the placeholder in all files of a built site.
export function relocate(site) {
  for (const file of fs.readdirSync(site, { recursive: true })) {
    const text = /\.(html|js|css|json)$/.test(file) ? fs.readFileSync(path.join(site, file), 'utf8') : ''
    if (!text.includes(placeholder)) continue
    const change = file.endsWith('.html') ? inPage : /@localSearchIndex/.test(file) ? inIndex : inScript
    const replaced = change(text, file)
    if (replaced.includes(placeholder) && change !== inIndex)
      throw new Error(`${file} holds the address ${placeholder} in an unknown way`)
    fs.writeFileSync(path.join(site, file), replaced)
  }
}

function inPage(text, file) {
  // Nothing says from where a server shows its page for what it does not find.
  const up = file === '404.html' ? '/' : '../'.repeat(file.split(path.sep).length - 1) || './'
  return text.replaceAll(placeholder, up).replace('<head>', `<head><script>siteBase=new URL("${up}",location).pathname</script>`)
}

function inScript(text) {
  return text.replaceAll(escaped, '\\""+siteBase+"\\"').replace(literal, '(siteBase+"$1")')
}

// The index of the search is one text, with the address of each section.
function inIndex(text) {
  return text.replace(/export\{(\w+) as default\}/, `const site=$1.replaceAll(${quoted},siteBase);export{site as default}`)
}
