// The medians of seven fresh loads of a page, in ms: until its script has run and the first picture
// stands, until another band is drawn after a click, and until all bands are.
//
// usage: node interactive.mjs PAGE.html       (prints JSON; nothing without a browser)
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const source = process.env.TALLY_SOURCE || ".";
const peers = process.env.TALLY_PEERS || path.join(source, ".peers");
const package_json = path.join(peers, "node_modules", "playwright-core", "package.json");
if (!existsSync("/usr/bin/chromium") || !existsSync(package_json)) process.exit(0);
const { chromium } = createRequire(path.resolve(package_json))("playwright-core");

const browser = await chromium.launch({
  executablePath: "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking"] });
const all = { interactive: [], band: [], all: [] };

// A click, and the frame that shows what it changed.
const click = (selector) => (async () => {
  const begin = performance.now(), buttons = document.querySelectorAll(selector);
  buttons[buttons.length - 1].click();
  document.body.getBoundingClientRect();
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)));
  return performance.now() - begin;
})();

for (let i = 0; i < 7; i++) {
  const context = await browser.newContext({ viewport: { width: 1200, height: 900 }, offline: true });
  const page = await context.newPage();
  await page.goto("file://" + path.resolve(process.argv[2]));
  all.interactive.push(await page.evaluate(() => Math.max(
    performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd,
    ...performance.getEntriesByType("paint").map((p) => p.startTime))));
  all.band.push(await page.evaluate(click, "button[data-show]:not([data-show=all])"));
  all.all.push(await page.evaluate(click, "button[data-show=all]"));
  await context.close();
}
await browser.close();
const median = (v) => v.sort((a, b) => a - b)[(v.length - 1) / 2];
console.log(JSON.stringify(Object.fromEntries(Object.entries(all).map(([k, v]) => [k, median(v)]))));
