// The pages of the site are those of the repository: this copies them to a folder that VitePress
// reads. What a page links to is a page as well, also if it is a program or a folder.
import fs from 'node:fs'
import path from 'node:path'

const { posix } = path

// A link of a page to something in the repository: not to another host, nor to an anchor.
const link = /\]\(([^)\s#]+)(?:#[^)\s]*)?\)/g
const isExternal = target => /^[a-z]+:|^\//.test(target)

// Returns the path of a page from that of what it shows.
function pagePath(file, isFolder) {
  const page = file.replace(/^docs\//, '')
  if (isFolder) return posix.join(page, 'index.md')
  if (/.\/README\.md$/.test(page)) return page.replace(/README\.md$/, 'index.md')
  if (/\.(md|svg)$/.test(page)) return page
  return page.replace(/\.html$/, '-html') + '.md' // VitePress takes index.html.html for index.html
}

const languages = { '.sql': 'sql', '.go': 'go', '.mod': 'go', '.py': 'python', '.js': 'js', '.mjs': 'js', '.css': 'css', '.html': 'html', '.csv': 'csv' }

// Copies the pages under root to the folder into, and returns for each the path of what it shows.
export function stage(root, into) {
  const sources = new Map() // by page
  const pages = new Map() // by what is shown
  const add = file => {
    if (pages.has(file)) return
    const from = path.join(root, file)
    if (!fs.existsSync(from)) return // VitePress says that a link to it is dead
    const isFolder = fs.statSync(from).isDirectory()
    if (isFolder && fs.existsSync(path.join(from, 'README.md'))) {
      pages.set(file, pagePath(file + '/README.md'))
      return add(file + '/README.md')
    }
    const page = pagePath(file, isFolder)
    pages.set(file, page)
    sources.set(page, isFolder ? file + '/.' : file)
    const to = path.join(into, page)
    fs.mkdirSync(path.dirname(to), { recursive: true })
    const text = isFolder ? listing(file, fs.readdirSync(from)) : fs.readFileSync(from, 'utf8')
    if (isFolder || /\.md$/.test(file)) {
      fs.writeFileSync(to, text)
      const prose = text.replace(/^```.*?^```/gms, '')
      for (const [, target] of prose.matchAll(link))
        if (!isExternal(target)) add(resolve(sources.get(page), target))
    } else if (/\.svg$/.test(file)) fs.writeFileSync(to, text)
    else fs.writeFileSync(to, `# ${posix.basename(file)}\n\n\`\`\`\`${languages[posix.extname(file)] ?? 'text'}\n${text.trimEnd()}\n\`\`\`\`\n`)
  }
  fs.rmSync(into, { recursive: true, force: true })
  for (const folder of ['.', 'docs'])
    for (const name of fs.readdirSync(path.join(root, folder)))
      if (name.endsWith('.md')) add(posix.join(folder, name))
  return { pages, sources }
}

// Returns what a link of a file leads to.
function resolve(file, target) {
  return posix.join(posix.dirname(file), decodeURI(target)).replace(/\/$/, '')
}

// Returns a page with links to all files of a folder.
function listing(folder, names) {
  const files = names.filter(name => !name.startsWith('.') && name !== 'go.sum')
  return `# ${folder}\n\n${files.map(name => `- [${name}](${name})`).join('\n')}\n`
}

// Makes links between files of the repository links between pages.
export function relink(md, { pages, sources }) {
  md.core.ruler.push('relink', ({ tokens, env }) => {
    const file = sources.get(env.relativePath)
    const change = (token, attribute) => {
      const [target, anchor] = token.attrGet(attribute).split(/(?=#)/)
      if (!target || target.startsWith('#') || isExternal(target)) return
      const page = pages.get(resolve(file, target))
      if (!page) return
      const href = posix.relative(posix.dirname(env.relativePath), page)
      token.attrSet(attribute, (href.startsWith('.') ? href : './' + href) + (anchor ?? ''))
    }
    for (const block of tokens)
      for (const token of block.children ?? [])
        if (token.type === 'link_open') change(token, 'href')
        else if (token.type === 'image') change(token, 'src')
  })
}
