// Looks at the built site in a browser that has no screen: every link leads somewhere, pages have titles, the search
// finds causes by Kubernetes' words, code can be copied, nothing is wider than a telephone, and nothing is loaded from
// elsewhere. What it sees is in pictures/. `make test-site` builds the site and runs this; SITE_BASE is for both.
import { createServer } from 'node:http'
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, extname, join, normalize } from 'node:path'
import puppeteer from 'puppeteer-core'

const dist = new URL('./dist/', import.meta.url).pathname
const pictures = new URL('./pictures/', import.meta.url).pathname
// The path that the site is published under, and served under here.
const base = process.env.SITE_BASE || '/'
const problems = []
const check = (ok, problem) => {
  if (!ok) problems.push(problem)
  return ok
}

const pages = readdirSync(dist, { recursive: true }).filter((name) => name.endsWith('.html') && name !== '404.html')
const text = Object.fromEntries(pages.map((name) => [name, readFileSync(join(dist, name), 'utf8')]))

// The links of all pages, with their anchors, and what the pages load.
function checkLinks() {
  for (const [name, html] of Object.entries(text)) {
    for (const [, href] of html.matchAll(/<(?:a|link|script|img) [^>]*(?:href|src)="([^"]*)"/g)) {
      if (/^[a-z]+:/.test(href)) continue
      const [path, anchor] = decodeURIComponent(href.replaceAll('&amp;', '&')).split('#')
      if (!check(!path.startsWith('/') || path.startsWith(base), `${name}: ${href} leads out of ${base}`)) continue
      let to = path === '' ? name : normalize(path.startsWith('/') ? path.slice(base.length) : join(dirname(name), path))
      if (to === '' || to === '.' || to.endsWith('/')) to = join(to, 'index.html')
      if (!extname(to)) to += '.html'
      if (!check(existsSync(join(dist, to)), `${name}: ${href} leads nowhere`) || !anchor || !text[to]) continue
      check(text[to].includes(`id="${anchor}"`), `${name}: ${href}: the page has no such part`)
    }
  }
  check(pages.length > 150, `only ${pages.length} pages`)
}

// A tab, a bookmark and the result of a search engine say what a page is about: a command's page has its name.
function checkTitles() {
  const seen = {}
  for (const [name, html] of Object.entries(text)) {
    const title = /<title>([^<]*)<\/title>/.exec(html)?.[1]
    const command = /^commands\/(.*)\.html$/.exec(name)?.[1].replaceAll('_', ' ')
    if (command && command !== 'berth') check(title === `${command} | berth`, `${name} is entitled ${title}`)
    else if (!['index.html', 'commands/berth.html'].includes(name)) {
      check(title?.endsWith(' | berth') && !seen[title], `${name} is entitled ${title}, and so is ${seen[title]}`)
    }
    seen[title] = name
  }
}

const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' }

// serve is the site on loopback, under its base path and nowhere else.
function serve() {
  const server = createServer((request, response) => {
    const path = new URL(request.url, 'http://site').pathname
    const file = join(dist, normalize('/' + path.slice(base.length)), path.endsWith('/') ? 'index.html' : '')
    if (!path.startsWith(base) || !existsSync(file) || !statSync(file).isFile()) return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' }).end(readFileSync(file))
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}

const browsers = ['chromium-headless-shell', 'chromium', 'google-chrome'].map((name) => '/usr/bin/' + name)
const browser = await puppeteer.launch({
  executablePath: process.env.CHROME ?? browsers.find((path) => existsSync(path)), args: ['--no-sandbox'],
})
const server = await serve()
const origin = `http://127.0.0.1:${server.address().port}`
const site = origin + base
await browser.defaultBrowserContext().overridePermissions(origin, ['clipboard-read', 'clipboard-sanitized-write'])

async function open(path, width) {
  const page = await browser.newPage()
  await page.setViewport({ width, height: 1000 })
  page.on('request', (r) => check(r.url().startsWith(site) || r.url().startsWith('data:'), `${path} loads ${r.url()}`))
  page.on('response', (r) => check(r.status() < 400, `${path}: ${r.url()} is answered with ${r.status()}`))
  page.on('pageerror', (error) => problems.push(`${path}: ${error.message}`))
  await page.goto(site + path, { waitUntil: 'networkidle0' })
  await page.addStyleTag({ content: '*, ::before, ::after { transition: none !important }' }) // no picture is half-way
  return page
}

// Nothing is wider than the window: the first pages, and those with tables. What does not fit scrolls in itself.
async function checkWidths() {
  const first = pages.filter((name) => !name.includes('/'))
  for (const path of [...first, 'causes/index.html', 'causes/imagenotfound.html', 'commands/berth_provision.html']) {
    const page = await open(path, 360)
    for (const width of [360, 1440]) {
      await page.setViewport({ width, height: 1000 })
      const { wide, cut } = await page.evaluate(() => {
        window.scrollTo(1000, 0)
        const edge = document.documentElement.clientWidth
        const clipped = (e) => getComputedStyle(e).overflowX === 'visible' && e.getBoundingClientRect().right > edge + 1
        return {
          wide: Math.max(document.documentElement.scrollWidth, edge + window.scrollX),
          cut: [...document.querySelectorAll('.vp-doc table, .vp-doc img, .vp-doc pre')].filter(clipped).map((e) => e.tagName),
        }
      })
      check(wide <= width, `${path} is ${wide} pixels wide in a window of ${width}`)
      check(cut.length === 0, `${path}: ${cut} is cut off at the edge of a window of ${width}`)
      await page.screenshot({ path: join(pictures, `${path.replace(/\W+/g, '-')}-${width}.png`) })
    }
    await page.close()
  }
}

// On a telephone, the commands of the first page are beside what they do.
async function checkTable() {
  const page = await open('index.html', 360)
  const right = await page.$eval('.vp-doc table', (table) => {
    table.scrollIntoView()
    window.scrollBy(0, -150)
    return table.querySelector('td:last-child').getBoundingClientRect().right
  })
  check(right <= 360, `what commands do ends at ${right} in a window of 360`)
  await page.screenshot({ path: join(pictures, 'commands-360.png') })
  await page.close()
}

// The first result of what people find in kubectl's output is a page about it.
async function checkSearch() {
  for (const [word, pages] of Object.entries({
    ImagePullBackOff: ['imagenotfound', 'imagepulldenied', 'imagepullfailed'], OOMKilled: ['oomkilled'],
    CrashLoopBackOff: ['crashloop'], FailedScheduling: ['unschedulable'],
  })) {
    const page = await open('index.html', 1440)
    await page.click('.VPNavBarSearch button')
    await page.waitForSelector('.search-input')
    await page.type('.search-input', word)
    await page.waitForSelector('.results .result', { timeout: 10_000 })
    const first = await page.$eval('.results .result', (a) => a.getAttribute('href'))
    console.log(`${word}: ${first}`)
    check(first.startsWith(base + 'causes/') && pages.some((name) => first.includes(name)),
      `the first result of ${word} is ${first}`)
    await page.screenshot({ path: join(pictures, `search-${word}.png`) })
    await page.close()
  }
}

// What the button beside a command copies is in the clipboard: all of the command, and nothing else.
async function checkCopy() {
  const page = await open('index.html', 1440)
  await page.bringToFront()
  await page.evaluate(() => navigator.clipboard.writeText('what was there before'))
  const block = await page.waitForSelector('.vp-doc div[class*="language-"]')
  const code = await block.$eval('code', (e) => e.textContent)
  await (await block.$('button.copy')).click()
  const copied = () => page.evaluate(() => navigator.clipboard.readText())
  await page.waitForFunction(async () => await navigator.clipboard.readText() !== 'what was there before',
    { timeout: 10_000 }).catch(() => check(false, 'nothing is copied'))
  check(await copied() === code.trim() && code.startsWith('curl -fsSL https://'), `copied: ${await copied()}`)
  await page.close()
}

async function checkDark() {
  const page = await open('causes/imagenotfound.html', 1440)
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const light = await background()
  await page.click('.VPNavBar .VPSwitchAppearance')
  await page.waitForFunction(() => document.documentElement.classList.contains('dark'))
  check(light !== await background(), `dark is as light: ${light}`)
  await page.screenshot({ path: join(pictures, 'dark.png') })
  await page.close()
}

mkdirSync(pictures, { recursive: true })
try {
  checkLinks()
  checkTitles()
  await checkWidths()
  await checkTable()
  await checkSearch()
  await checkCopy()
  await checkDark()
} finally {
  await browser.close()
  server.close()
}
for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0
