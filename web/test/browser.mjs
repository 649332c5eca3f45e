// What the tests of the page share: the browser, a signed-in tab, checks that hold on every screen.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** open starts the browser. */
export function open() {
  return chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium', args: process.getuid() === 0 ? ['--no-sandbox'] : [] });
}

/** tab opens the page in a context of its own, signed in, and remembers everything that must not happen. */
export async function tab(browser, { url, token, width = 1280, height = 800, theme = 'light', signedIn = true }) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, reducedMotion: 'reduce', serviceWorkers: 'block' });
  const page = await context.newPage();
  const faults = [];
  page.on('console', (m) => {
    // The browser itself reports answers with an error; the tests look at what the page says of them.
    if (m.type() === 'error' && !/Failed to load resource|WebSocket connection to/.test(m.text())) faults.push('console: ' + m.text());
  });
  page.on('pageerror', (e) => faults.push('error: ' + e.stack));
  page.on('dialog', (d) => { faults.push('dialog: ' + d.message()); void d.dismiss(); });
  page.on('request', (r) => { if (!r.url().startsWith(url) && !r.url().startsWith('data:')) faults.push('foreign request: ' + r.url()); });
  if (signedIn) await context.addInitScript((t) => { if (location.protocol === 'http:' && !localStorage.getItem('sandboxrun.token')) localStorage.setItem('sandboxrun.token', JSON.stringify(t)); }, token);
  await page.goto(url + '/');
  return { page, context, faults };
}

/** check looks for barriers with axe, and for a page that is wider than its window. */
export async function check(page, name) {
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const { violations } = await globalThis.axe.run(document, { resultTypes: ['violations'], runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] });
    return violations.filter((v) => v.impact === 'serious' || v.impact === 'critical')
      .map((v) => v.id + ': ' + v.nodes.slice(0, 4).map((n) => n.target.join(' ') + ' ' + (n.failureSummary ?? '').split('\n')[1]).join(' | '));
  });
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (wide > 0) found.push(wide + ' px wider than the window');
  return found.map((f) => name + ': ' + f);
}
