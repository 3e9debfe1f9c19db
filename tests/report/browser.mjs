// The page in a real browser: no console message, both themes, phone width, every plot with data,
// bands switched, lanes hidden, numbers on hover and by keyboard that are the receipt's.
//
// usage: node browser.mjs RUN PAGE.html
//
// Needs playwright-core (tools/fetch-peers BROWSER) and Debian's Chromium; without them it is
// skipped, saying so. Output is TAP.
import { readFileSync, existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";

const [run, page_file] = process.argv.slice(2);
const source = process.env.TALLY_SOURCE || ".";
const peers = process.env.TALLY_PEERS || path.join(source, ".peers");
const chromium_path = "/usr/bin/chromium";
const package_json = path.join(peers, "node_modules", "playwright-core", "package.json");
if (!existsSync(chromium_path) || !existsSync(package_json)) {
  console.log("1..0 # SKIP Chromium or playwright-core is absent (tools/fetch-peers BROWSER)");
  process.exit(0);
}
const { chromium } = createRequire(path.resolve(package_json))("playwright-core");

let number = 0, failed = 0;
function check(what, seen, wanted) {
  const same = JSON.stringify(seen) === JSON.stringify(wanted);
  console.log(`${same ? "ok" : "not ok"} ${++number} - ${what}`);
  if (!same) {
    failed++;
    console.log(`# saw    ${JSON.stringify(seen)}\n# wanted ${JSON.stringify(wanted)}`);
  }
}

const receipt = JSON.parse(readFileSync(path.join(run, "receipt.json"), "utf8"));
const lanes = receipt.lanes.map((l) => l.role);
const bands = receipt.protocol.bands;
const browser = await chromium.launch({
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
  if (shots) await page.screenshot({ path: `${shots}/${theme}-${width}.png`, fullPage: true });
  return { page, said };
}

for (const theme of ["light", "dark"]) {
  for (const width of [1200, 390]) {
    const { page, said } = await open(theme, width);
    check(`${theme}, ${width} px: no console message, no request`, said, []);
    check(`${theme}, ${width} px: nothing wider than the window`,
      await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), true);
    const low = await page.evaluate(() => {
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
    });
    check(`${theme}, ${width} px: contrast of at least 4.5`, low, []);
    await page.context().close();
  }
}

const { page } = await open("light", 1200);
check("the status is the receipt's", await page.locator(".status").first().textContent(), receipt.status);
const plots = await page.evaluate(() => [...document.querySelectorAll("svg.plot")].map((s) =>
  [...s.querySelectorAll("path.line:not(.ideal)")].map((p) => p.getAttribute("d").length)));
check("one throughput plot and three distributions a band", plots.length, 1 + 3 * bands.length);
check("every plot has a line with data for every lane",
  plots.filter((p) => p.length !== lanes.length || p.some((n) => n < 20)), []);
check("a table behind every distribution", await page.locator("figure details table").count(), 3 * bands.length);
check("a table behind the throughput", await page.locator("figure.single + details table").count(), 1);

// Bands: the first is shown, a click shows another, "all" shows all.
const shown = () => page.evaluate(() => [...new Set([...document.querySelectorAll("section[data-band]")]
  .filter((s) => s.offsetParent !== null).map((s) => Number(s.dataset.band)))]);
check("the first band is shown", await shown(), [bands[0]]);
await page.locator(`button[data-show="${bands[bands.length - 1]}"]`).click();
check("a click shows the last band", await shown(), [bands[bands.length - 1]]);
await page.locator("button[data-show=all]").click();
check("all bands are shown", await shown(), bands);

// Lanes: hidden in every plot.
if (lanes.length > 1) {
  await page.locator("input[data-lane=comparator]").uncheck();
  check("a lane is hidden", await page.locator("svg.plot path.line.comparator").first().isVisible(), false);
  await page.locator("input[data-lane=comparator]").check();
}

// A mark says the mean over replicates that the receipt's bands give.
const c = bands[bands.length - 1];
const rates = receipt.bands.filter((b) => b.lane === lanes[0] && b.band === c && b.metrics.agg_tok_s)
  .map((b) => b.metrics.agg_tok_s.value);
const mean = rates.reduce((a, b) => a + b, 0) / rates.length;
await page.locator(`g.mark.${lanes[0]}`).last().focus();
const mark = await page.locator(".readout.marks").textContent();
check("a focused mark says the receipt's mean rate", Math.abs(Number(mark.match(/: ([\d.]+) tok\/s/)[1]) - mean) < 0.06, true);

// A request by keyboard and by pointer: its numbers are those of the samples.
const timeline = page.locator("svg.timeline").first();
await timeline.focus();
const readout = page.locator("svg.timeline + .readout").first();
const first = await readout.textContent();
check("the first request is told", /^Request 1 of \d+, worker \d+: ok\. Sent at /.test(first), true);
await page.keyboard.press("ArrowRight");
check("the arrow key tells the second", (await readout.textContent()).startsWith("Request 2 of"), true);
await page.keyboard.press("End");
const last = await readout.textContent();
const counts = last.match(/^Request (\d+) of (\d+)/);
check("End tells the last", counts[1], counts[2]);
const ttft = Number(last.match(/first token after ([\d.]+) ms/)[1]);
check("its time to first token lies within the band's range", (() => {
  const b = receipt.bands.find((x) => x.band === bands[0] && x.lane === receipt.bands[0].lane && x.replicate === receipt.bands[0].replicate);
  return ttft >= b.metrics.ttft_ms.min - 0.06 && ttft <= b.metrics.ttft_ms.max + 0.06;
})(), true);
const box = await timeline.boundingBox();
await page.mouse.move(box.x + box.width / 2, box.y + 12);
check("the pointer tells another", (await readout.textContent()) !== last, true);
await browser.close();
console.log(`1..${number}`);
process.exit(failed ? 1 : 0);
