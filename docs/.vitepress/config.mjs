// The documentation as a site: `make site` builds it into build/site.
import fs from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import { placeholder, relocate } from './relocate.mjs'
import { relink, stage } from './stage.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const srcDir = fileURLToPath(new URL('pages', import.meta.url)) // where vue is found
const staged = stage(root, srcDir)

// Pages by what they are for. One that is missing is left out, and one that is not named here is
// under More.
const groups = [
  ['Start', ['README', 'first-answer-locations', 'first-answer-meters', 'first-hour', 'first-sealed', 'examples/sql/index']],
  ['Understand', ['epsilon', 'choosing', 'skewed', 'public', 'budgets', 'threat-model', 'claims', 'glossary']],
  ['Do', ['install', 'publishing', 'release', 'scale', 'backups', 'sealed', 'serve', 'operate', 'hosts/sqlite3', 'hosts/python', 'hosts/datasette', 'hosts/node', 'hosts/go', 'hosts/gorm']],
  ['Look up', ['reference', 'command', 'systems', 'platforms', 'compatibility']],
  ['Measured', ['real-data', 'accuracy', 'benchmarks', 'crash', 'audit', 'study-predictive', 'study-pim', 'study-optimal', 'study-cip',
    'study-meters', 'study-lbs', 'study-census']],
  ['The project', ['ARCHITECTURE', 'decisions', 'internal/conformance/index', 'CONTRIBUTING', 'SECURITY', 'CHANGELOG']],
]

const text = page => fs.readFileSync(path.join(srcDir, page + '.md'), 'utf8')
const title = page => page === 'README' ? 'What geosql is' : text(page).match(/^# (.*)$/m)[1].replaceAll('`', '')
const known = page => staged.sources.has(page + '.md')
const named = new Set([...groups.flatMap(([, pages]) => pages), 'index'])
const others = [...staged.sources.keys()].filter(page => /^[^/]*\.md$/.test(page)).map(page => page.slice(0, -3)).filter(page => !named.has(page))
  .filter(page => staged.sources.get(page + '.md').endsWith('.md')).sort()
const sidebar = [...groups, ['More', others]].map(([text, pages]) => ({
  text, collapsed: text === 'Measured' || text === 'The project',
  items: pages.filter(known).map(page => ({ text: title(page), link: '/' + page.replace(/index$/, '') })),
})).filter(group => group.items.length > 0)

// The anchor of a heading as code hosts make it.
const slugify = heading => heading.trim().toLowerCase().replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '').replaceAll(' ', '-')

export default defineConfig({
  lang: 'en',
  title: 'geosql',
  description: 'Private answers inside SQL',
  base: placeholder,
  srcDir,
  cacheDir: fileURLToPath(new URL('node_modules/.cache', import.meta.url)),
  metaChunk: true,
  buildEnd: ({ outDir }) => relocate(outDir),
  vite: { build: { chunkSizeWarningLimit: 2000 } }, // kB: the index of the search
  markdown: {
    anchor: { slugify },
    config: md => relink(md, staged),
  },
  themeConfig: {
    search: { provider: 'local', options: { detailedView: true } },
    nav: [{ text: 'Start', link: '/first-answer-locations' }, { text: 'Reference', link: '/reference' }, { text: 'Threat model', link: '/threat-model' }],
    sidebar,
    outline: [2, 3],
  },
})
