// The trend of nine runs in a real browser, held against the receipts.
//
// usage: node trend.mjs PAGE.html RUN...      (in the order of their start)
//
// Output is TAP; skipped, saying so, where kit.mjs finds no browser.
import { readFileSync } from "node:fs";
import path from "node:path";
import { check, done, looks, start } from "./kit.mjs";

const [page_file, ...dirs] = process.argv.slice(2);
const { open } = await start(page_file);
const receipts = dirs.map((d) => JSON.parse(readFileSync(path.join(d, "receipt.json"), "utf8")));
await looks(open);

const { page } = await open("light", 1200);
check("the worst status of all", await page.locator(".status").first().textContent(), "INCOMPLETE");
check("a row a run, in the order of their start",
  await page.evaluate(() => [...document.querySelectorAll("table.runs tbody tr")].map((r) => r.cells[1].textContent)),
  receipts.map((r) => r.start.slice(0, 16).replace("T", " ")));
check("their builds", await page.evaluate(() =>
  [...document.querySelectorAll("table.runs tbody tr")].map((r) => r.cells[3].textContent)),
  receipts.map((r) => r.lanes[0].build));
const said = await page.locator("section.caveats").textContent();
check("what is not PASS is told", said.includes("Run 8 is INCOMPLETE {interrupted}"), true);
check("where keys differ is told", said.includes("Runs 3 and 4 are not comparable: corpus_sha256 differs") &&
  said.includes("Runs 4 and 5 are not comparable: corpus_sha256 differs"), true);
check("where a key is not known is told", said.includes("Runs 8 and 9 are not known to be comparable: host"), true);
check("what of the matrix is not drawn is told", said.includes("decode_tok_s is not drawn"), true);

// Bands.
const shown = () => page.evaluate(() => [...document.querySelectorAll("section[data-band]")]
  .filter((s) => s.offsetParent !== null).map((s) => Number(s.dataset.band)));
check("the first band is shown", await shown(), [2]);
await page.locator('button[data-show="4"]').click();
check("a click shows the other", await shown(), [4]);

// Plots: eight of a band; every series with a mark a run, and a line only where runs are joined.
const plots = page.locator('section[data-band="4"] figure');
check("four plots of the lanes, four of their ratio", await plots.count(), 8);
const drawn = (n) => plots.nth(n).evaluate((f) => ({
  marks: [...f.querySelectorAll("g.mark.subject, g.mark.ratio")].length,
  solid: [...f.querySelectorAll("path.line.subject:not(.ideal), path.line.ratio:not(.ideal)")].length,
  dotted: [...f.querySelectorAll("path.line.ideal.subject, path.line.ideal.ratio")].length }));
for (const n of [0, 1, 4, 5]) {
  // 1-2-3, 4 alone, 5-6-7-8, and 8-9 with a host that is not known.
  check(`plot ${n + 1}: nine marks, five lines, one dotted`, await drawn(n), { marks: 9, solid: 5, dotted: 1 });
}
check("a table behind every plot", await page.locator("figure details table").count(), 2 * 8);
check("parity's line on two ratios, the ratchet's on two plots of the lanes",
  await plots.evaluateAll((all) => all.map((f) => [...f.querySelectorAll("text.rule-text")]
    .map((t) => t.textContent.split(":")[0])).flat()), ["ratchet", "ratchet", "parity", "parity"]);

// Numbers: the mean over replicates of the receipt's own p50, in the mark, the readout and the table.
const ttft = (r, lane) => r.bands.filter((b) => b.lane === lane && b.band === 4).map((b) => b.metrics.ttft_ms.p50);
const mean = (v) => v.reduce((a, b) => a + b, 0) / v.length;
const figure = plots.nth(1);
for (const n of [0, 6, 8]) {
  await figure.locator("g.mark.subject").nth(n).focus();
  const text = await figure.locator(".readout").textContent();
  check(`run ${n + 1}: the mark says which run`, text.startsWith(`run ${n + 1}, ${receipts[n].start.slice(0, 10)}`), true);
  const value = Number(text.match(/subject ([\d.]+) ms/)[1]);
  check(`run ${n + 1}: and the receipt's number`, Math.abs(value - mean(ttft(receipts[n], "subject"))) < 0.01, true);
}
const cell = await figure.locator("table tbody tr").nth(2 * 6).evaluate((r) => r.cells[3].textContent);
check("the table says the same", Math.abs(parseFloat(cell) - mean(ttft(receipts[6], "subject"))) < 0.01, true);

// The ratchet by hand: the t lower bound of the logarithms of the first six runs, less three per
// cent; lower is better, so signs turn. t(0.95, 5) = 2.015048.
const logs = receipts.slice(0, 6).map((r) => -mean(ttft(r, "subject").map(Math.log)));
const m = mean(logs), sd = Math.sqrt(logs.reduce((a, x) => a + (x - m) ** 2, 0) / 5);
const bound = Math.exp(-(m - 2.015048 * sd / Math.sqrt(6) + Math.log(0.97)));
const line = await figure.locator("text.rule-text").textContent();
check("the ratchet stands where the definition puts it",
  Math.abs(Number(line.match(/([\d.]+) ms/)[1]) - bound) < 0.01, true);

// A lane is hidden in every plot.
await page.locator("input[data-lane=comparator]").uncheck();
check("a lane is hidden", await figure.locator("g.mark.comparator").first().isVisible(), false);
await done();
