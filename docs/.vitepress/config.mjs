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

// The groups of pages and their order are those of docs/index.md: a heading for each, and below it a list of links.
const index = fs.readFileSync(path.join(root, 'docs/index.md'), 'utf8')
const sidebar = index.split(/^## /m).slice(1).map(section => ({
  text: section.match(/.*/)[0],
  collapsed: /^(How to|Evidence|The project)/.test(section),
  items: [...section.matchAll(/^- \[(.*?)\]\((.*?)\)/gm)].map(([, text, file]) => ({
    text, link: '/' + staged.pages.get(path.posix.join('docs', file)).replace(/index\.md$|\.md$/, ''),
  })),
}))

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
  vite: {
    resolve: { alias: { 'geosql-device': path.join(process.env.GEOSQL_DEVICE, 'index.js') } },
    build: { chunkSizeWarningLimit: 2000 }, // kB: the index of the search
  },
  markdown: {
    anchor: { slugify },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: md => {
      relink(md, staged)
      md.renderer.rules.code_block = (...args) => md.renderer.rules.fence(...args) // indented, and shown alike
    },
  },
  themeConfig: {
    search: { provider: 'local', options: { detailedView: true, miniSearch: { searchOptions: { boost: { title: 16, text: 1, titles: 1 } } } } },
    nav: sidebar.slice(0, 5).map(({ text, items }) => ({ text, link: items[0].link })),
    sidebar,
    outline: [2, 3],
  },
})
