// Looks at the built site in a browser that has no screen: every link leads somewhere, the search finds causes by
// Kubernetes' words, code can be copied, nothing is wider than a telephone, and nothing is loaded from elsewhere.
// What it sees is in pictures/. `make test-site` builds the site and runs this.
import { createServer } from 'node:http'
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { dirname, extname, join, normalize } from 'node:path'
import puppeteer from 'puppeteer-core'

const dist = new URL('./dist/', import.meta.url).pathname
const pictures = new URL('./pictures/', import.meta.url).pathname
const problems = []
const check = (ok, problem) => {
  if (!ok) problems.push(problem)
  return ok
}

// The links of all pages, with their anchors.
function checkLinks() {
  const pages = readdirSync(dist, { recursive: true }).filter((name) => name.endsWith('.html') && name !== '404.html')
  const text = Object.fromEntries(pages.map((name) => [name, readFileSync(join(dist, name), 'utf8')]))
  for (const [name, html] of Object.entries(text)) {
    for (const [, href] of html.matchAll(/<a [^>]*href="([^"]*)"/g)) {
      if (/^[a-z]+:/.test(href)) continue
      const [path, anchor] = decodeURIComponent(href.replaceAll('&amp;', '&')).split('#')
      let to = path === '' ? name : normalize(path.startsWith('/') ? path.slice(1) : join(dirname(name), path))
      if (to === '' || to === '.' || to.endsWith('/')) to = join(to, 'index.html')
      if (!extname(to)) to += '.html'
      if (!check(existsSync(join(dist, to)), `${name}: ${href} leads nowhere`) || !anchor || !text[to]) continue
      check(text[to].includes(`id="${anchor}"`), `${name}: ${href}: the page has no such part`)
    }
  }
  check(pages.length > 150, `only ${pages.length} pages`)
}

const types = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' }

// serve is the site on loopback.
function serve() {
  const server = createServer((request, response) => {
    const path = new URL(request.url, 'http://site').pathname
    const file = join(dist, normalize(path.endsWith('/') ? path + 'index.html' : path))
    if (!existsSync(file) || !statSync(file).isFile()) return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' }).end(readFileSync(file))
  })
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(server)))
}

const browsers = ['chromium-headless-shell', 'chromium', 'google-chrome'].map((name) => '/usr/bin/' + name)
const browser = await puppeteer.launch({
  executablePath: process.env.CHROME ?? browsers.find((path) => existsSync(path)), args: ['--no-sandbox'],
})
const server = await serve()
const base = `http://127.0.0.1:${server.address().port}/`

async function open(path, width) {
  const page = await browser.newPage()
  await page.setViewport({ width, height: 1000 })
  page.on('request', (r) => check(r.url().startsWith(base) || r.url().startsWith('data:'), `${path} loads ${r.url()}`))
  page.on('pageerror', (error) => problems.push(`${path}: ${error.message}`))
  await page.evaluateOnNewDocument(() => {
    navigator.clipboard.writeText = async (text) => { window.copied = text }
  })
  await page.goto(base + path, { waitUntil: 'networkidle0' })
  return page
}

// Nothing is wider than the window.
async function checkWidths() {
  for (const path of ['index.html', 'causes/imagenotfound.html', 'commands/berth_provision.html', 'rbac.html']) {
    for (const width of [360, 1440]) {
      const page = await open(path, width)
      const wide = await page.evaluate(() => document.documentElement.scrollWidth)
      check(wide <= width, `${path} is ${wide} pixels wide in a window of ${width}`)
      await page.screenshot({ path: join(pictures, `${path.replace(/\W+/g, '-')}-${width}.png`) })
      await page.close()
    }
  }
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
    check(first.includes('/causes/') && pages.some((name) => first.includes(name)),
      `the first result of ${word} is ${first}`)
    await page.screenshot({ path: join(pictures, `search-${word}.png`) })
    await page.close()
  }
}

async function checkCopy() {
  const page = await open('index.html', 1440)
  await page.click('.vp-doc div[class*="language-"] button.copy')
  await page.waitForFunction(() => window.copied)
  const copied = await page.evaluate(() => window.copied)
  check(copied.startsWith('curl -fsSL https://') && copied.endsWith('| sh'), `copied: ${copied}`)
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
  await checkWidths()
  await checkSearch()
  await checkCopy()
  await checkDark()
} finally {
  await browser.close()
  server.close()
}
for (const problem of problems) console.error(problem)
process.exitCode = problems.length > 0 ? 1 : 0
