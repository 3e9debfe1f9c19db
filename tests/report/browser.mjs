// The page in a real browser: no console message, both themes, phone width, every plot with data,
// bands switched, lanes hidden, numbers on hover and by keyboard that are the receipt's.
//
// usage: node browser.mjs RUN PAGE.html
//
// Output is TAP; skipped, saying so, where kit.mjs finds no browser.
import { readFileSync } from "node:fs";
import path from "node:path";
import { check, done, looks, start } from "./kit.mjs";

const [run, page_file] = process.argv.slice(2);
const { open } = await start(page_file);
const receipt = JSON.parse(readFileSync(path.join(run, "receipt.json"), "utf8"));
const lanes = receipt.lanes.map((l) => l.role);
const bands = receipt.protocol.bands;
await looks(open);

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
await done();
