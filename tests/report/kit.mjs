// What the tests of the pages share: a browser, checks as TAP, and what every page must hold in both
// themes and at phone width.
//
//     import { check, start, looks, done } from "./kit.mjs";
//     const { open } = await start(page_file);
//     await looks(open);
//     const { page } = await open("light", 1200);
//     await done();
//
// Needs playwright-core (tools/fetch-peers BROWSER) and Debian's Chromium; without them the test is
// skipped, saying so. TALLY_SHOTS names a folder for screenshots.
import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const source = process.env.TALLY_SOURCE || ".";
const peers = process.env.TALLY_PEERS || path.join(source, ".peers");
const chromium_path = "/usr/bin/chromium";
const package_json = path.join(peers, "node_modules", "playwright-core", "package.json");

let number = 0, failed = 0, browser;

export function check(what, seen, wanted) {
  const same = JSON.stringify(seen) === JSON.stringify(wanted);
  console.log(`${same ? "ok" : "not ok"} ${++number} - ${what}`);
  if (!same) {
    failed++;
    console.log(`# saw    ${JSON.stringify(seen)}\n# wanted ${JSON.stringify(wanted)}`);
  }
}

export async function start(page_file) {
  if (!existsSync(chromium_path) || !existsSync(package_json)) {
    console.log("1..0 # SKIP Chromium or playwright-core is absent (tools/fetch-peers BROWSER)");
    process.exit(0);
  }
  const { chromium } = createRequire(path.resolve(package_json))("playwright-core");
  browser = await chromium.launch({
    executablePath: chromium_path,
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
           "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  const shots = process.env.TALLY_SHOTS;
  if (shots) mkdirSync(shots, { recursive: true });

  async function open(theme, width) {
    const context = await browser.newContext({
      colorScheme: theme, viewport: { width, height: 900 }, offline: true });
    const page = await context.newPage();
    const said = [];
    page.on("console", (m) => said.push(m.text()));
    page.on("pageerror", (e) => said.push(String(e)));
    page.on("request", (r) => { if (!/^(file|data):/.test(r.url())) said.push(r.url()); });
    await page.goto("file://" + path.resolve(page_file));
    if (shots) {
      const name = path.basename(page_file, ".html");
      await page.screenshot({ path: `${shots}/${name}-${theme}-${width}.png`, fullPage: true });
    }
    return { page, said };
  }
  return { open };
}

function low_contrast() {
  // WCAG 2.1 contrast of every visible text against the page's ground.
  const lum = (c) => {
    const v = c.map((x) => { x /= 255; return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2];
  };
  const rgb = (s) => s.match(/[\d.]+/g).slice(0, 3).map(Number);
  const ground = lum(rgb(getComputedStyle(document.body).backgroundColor));
  const bad = new Set();
  for (const e of document.querySelectorAll("h1,h2,p,td,th,li,summary,figcaption,text")) {
    const style = getComputedStyle(e);
    const l = lum(rgb(e.tagName === "text" ? style.fill : style.color));
    const ratio = (Math.max(l, ground) + 0.05) / (Math.min(l, ground) + 0.05);
    if (ratio < 4.5) bad.add(`${e.tagName}.${e.getAttribute("class")}: ${ratio.toFixed(2)}`);
  }
  return [...bad];
}

export async function looks(open) {
  for (const theme of ["light", "dark"]) {
    for (const width of [1200, 390]) {
      const { page, said } = await open(theme, width);
      check(`${theme}, ${width} px: no console message, no request`, said, []);
      check(`${theme}, ${width} px: nothing wider than the window`,
        await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true);
      check(`${theme}, ${width} px: contrast of at least 4.5`, await page.evaluate(low_contrast), []);
      await page.context().close();
    }
  }
}

export async function done() {
  await browser.close();
  console.log(`1..${number}`);
  process.exit(failed ? 1 : 0);
}
