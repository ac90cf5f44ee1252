// The site of the documentation. scripts/site makes src/ of docs/ and of the catalogue of causes.
import { readdirSync, readFileSync } from 'node:fs'

const src = new URL('../src/', import.meta.url)

// The path that the site is published under.
const base = process.env.SITE_BASE || '/'
if (!/^\/([\w.-]+\/)*$/.test(base)) throw new Error(`SITE_BASE is ${base}: it begins and ends with a slash, as /berth/ does`)

const page = (text, link) => ({ text, link: '/' + link })

// The families of causes and their pages, as the index that was generated has them.
function causes() {
  const families = []
  for (const line of readFileSync(new URL('causes/index.md', src), 'utf8').split('\n')) {
    const family = /^## (.*)/.exec(line)
    const cause = /^- \[(\w+)\]\(\.\/(\w+)\.md\)/.exec(line)
    if (family) families.push({ text: family[1], collapsed: true, items: [] })
    if (cause) families.at(-1).items.push(page(cause[1], 'causes/' + cause[2]))
  }
  return families
}

const commands = () => readdirSync(new URL('commands/', src)).sort()
  .map((file) => file.replace(/\.md$/, ''))
  .map((name) => page(name.replaceAll('_', ' '), 'commands/' + name))

// Sections have the anchors that GitHub gives them, so that a link leads to the same place here and there.
const slugify = (title) => title.trim().toLowerCase().replace(/[^\p{L}\p{N}\-_ ]/gu, '').replaceAll(' ', '-')

export default {
  title: 'berth',
  description: 'Ready workspaces on Kubernetes from the terminal',
  lang: 'en',
  base,
  srcDir: 'src',
  outDir: 'dist',
  cleanUrls: false,
  // Beside the page about what there is, there is one about why it is so, of the same name.
  transformPageData: (data) => data.relativePath.startsWith('design/') ? { title: data.title + ' (design)' } : undefined,
  // What documents quote from elsewhere is no HTML and no template.
  markdown: {
    html: false,
    anchor: { slugify },
    config: (md) => {
      const text = md.renderer.rules.text
      md.renderer.rules.text = (...args) => text(...args).replaceAll('{{', '&#123;&#123;')
      // What is indented is code as what is fenced: with its colours, within its width, and to be copied.
      md.renderer.rules.code_block = (tokens, i, options, env, self) => {
        Object.assign(tokens[i], { type: 'fence', tag: 'code', info: 'sh' })
        return self.rules.fence(tokens, i, options, env, self)
      }
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [page('Start', 'team'), page('Commands', 'commands/berth'), page('Causes', 'causes/')],
    socialLinks: [{ icon: 'github', link: 'https://github.com/berthdev/berth' }],
    sidebar: [
      {
        text: 'Start',
        items: [page('What berth is', ''), page('Install', 'install'), page('From zero to a team', 'team'),
          page('Pictures', 'tour')],
      },
      {
        text: 'Workspaces',
        items: [page('User strings', 'user-strings'), page('Blueprints', 'blueprints'), page('SSH and editors', 'ssh'),
          page('Policies of failure', 'policies'), page('Desired states', 'states'), page('Machines', 'machines'),
          page('Scratch volumes', 'volumes')],
      },
      { text: 'Causes', link: '/causes/', collapsed: true, items: causes() },
      {
        text: 'For platforms',
        items: [page('Bundles', 'bundles'), page('Gateway', 'gateway'), page('Identity', 'identity'),
          page('Permissions', 'rbac'), page('Security', 'security'), page('Beside k8shell', 'k8shell')],
      },
      {
        text: 'Reference',
        items: [page('Configuration', 'environment'), page('Output', 'output'), page('Exit statuses', 'exit-codes'),
          page('Compatibility', 'compatibility'), { text: 'Commands', collapsed: true, items: commands() },
          page('Architecture', 'architecture')],
      },
    ],
  },
}
