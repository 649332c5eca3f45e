// Measures the page. Arguments: the server's address and a JSON object with runs: {long, live, wide, asking}, and a count of
// approvals. Prints one line of JSON.
import { open, tab } from './browser.mjs';
import { createInterface } from 'node:readline';

const [, , url, given] = process.argv;
const token = process.env.PAGE_TOKEN;
const { long, live, wide, asking, approvals } = JSON.parse(given);
const out = {};

const browser = await open();
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const p95 = (list) => [...list].sort((a, b) => a - b)[Math.max(0, Math.ceil(list.length * 0.95) - 1)];

async function opened(fragment, ready) {
  const times = [];
  let last;
  for (let i = 0; i < 3; i++) {
    const { page, context } = await tab(browser, { url, token });
    await page.locator('h1').first().waitFor();
    const began = Date.now();
    await page.evaluate((f) => { location.hash = f; }, fragment);
    await page.locator(ready).first().waitFor();
    times.push(Date.now() - began);
    if (last) await last.context.close();
    last = { page, context };
  }
  return { ms: median(times), ...last };
}

async function size(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const heap = (await session.send('Runtime.getHeapUsage')).usedSize;
  return { nodes: await page.evaluate(() => document.querySelectorAll('*').length), heap_mib: Math.round(heap / 1048576) };
}

try {
  // First load, in a browser that has nothing.
  const context = await browser.newContext();
  const page = await context.newPage();
  let script = 0, all = 0;
  page.on('response', async (r) => {
    const { responseBodySize } = await r.request().sizes();
    all += responseBodySize;
    if (r.url().endsWith('.js')) script += responseBodySize;
  });
  const began = Date.now();
  await page.goto(url + '/');
  await page.getByTestId('sign-in').waitFor();
  out.first_load_ms = Date.now() - began;
  await page.waitForTimeout(300);
  out.script_kb = Math.round(script / 102.4) / 10;
  out.all_kb = Math.round(all / 102.4) / 10;
  await context.close();

  const journal = await opened('#/runs/' + long + '/activity', '[data-testid=event-row]');
  out.long_run_ms = journal.ms;
  // Read upward through a part of it: what is drawn stays bounded.
  for (let i = 0; i < 20; i++) { await journal.page.locator('.events').evaluate((e) => { e.scrollTop = 0; }); await journal.page.waitForTimeout(120); }
  Object.assign(out, await size(journal.page));
  await journal.context.close();

  const diff = await opened('#/runs/' + wide + '/changes', '[data-testid=diff-line]');
  out.diff_ms = diff.ms;
  for (let i = 1; i <= 20; i++) { await diff.page.locator('.diff').evaluate((e, n) => { e.scrollTop = e.scrollHeight * n / 21; }, i); await diff.page.waitForTimeout(50); }
  const drawn = await size(diff.page);
  out.diff_nodes = drawn.nodes;
  out.diff_heap_mib = drawn.heap_mib;
  await diff.context.close();

  // The longest task of the page's thread while 200 events a second arrive; the caller writes them when told.
  const flood = await tab(browser, { url, token });
  await flood.page.goto(url + '/#/runs/' + live + '/activity');
  await flood.page.getByText('live', { exact: true }).waitFor();
  await flood.page.evaluate(() => {
    globalThis.longest = 0;
    new PerformanceObserver((l) => { for (const e of l.getEntries()) globalThis.longest = Math.max(globalThis.longest, e.duration); }).observe({ entryTypes: ['longtask'] });
  });
  const lines = createInterface({ input: process.stdin });
  console.log('flood');
  await new Promise((resolve) => { lines.once('line', resolve); });
  await flood.page.getByText('the last of the flood').waitFor({ timeout: 10_000 });
  out.flood_longest_task_ms = Math.round(await flood.page.evaluate(() => globalThis.longest));
  await flood.context.close();
  lines.close();

  // From the click to the decision in the run's journal, by the clock of this machine.
  const asks = await tab(browser, { url, token });
  await asks.page.goto(url + '/#/approvals');
  const clicks = [];
  for (let i = 0; i < approvals; i++) {
    const button = asks.page.locator('[data-testid=approve]:not([disabled])');
    await button.waitFor({ timeout: 30_000 });
    const card = await asks.page.getByTestId('approval-card').getAttribute('aria-labelledby');
    clicks.push(await button.evaluate((b) => { const at = Date.now(); b.click(); return at; }));
    await asks.page.waitForFunction((c) => document.querySelector('[data-testid=approval-card]')?.getAttribute('aria-labelledby') !== c, card, { timeout: 30_000 });
  }
  const answer = await fetch(url + '/api/runs/' + asking + '/events?before=9007199254740991&kinds=approval_answered', { headers: { Authorization: 'Bearer ' + token, Accept: 'application/json' } });
  const decided = (await answer.json()).events.filter((e) => e.data.by === 'api' || e.data.by === 'page').map((e) => Date.parse(e.time));
  out.click_to_journal_p95_ms = decided.length === clicks.length ? p95(decided.map((t, i) => t - clicks[i])) : 'counted ' + decided.length + ' of ' + clicks.length;
  await asks.context.close();
  console.log(JSON.stringify(out));
} finally {
  await browser.close();
}
process.exit(0);
