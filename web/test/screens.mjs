// Every screen in both themes and at both widths: no barrier, nothing wider than the window, and a picture of it.
// Arguments: the server's address, a JSON list of [name, fragment], the directory of pictures or "".
import assert from 'node:assert/strict';
import { check, open, tab } from './browser.mjs';

const [, , url, list, pictures] = process.argv;
const token = process.env.PAGE_TOKEN;
const screens = JSON.parse(list);
const barriers = [];

const browser = await open();

async function look(page, name, theme, width) {
  await page.locator('h1').first().waitFor();
  await page.waitForFunction(() => !document.querySelector('main .waiting'), null, { timeout: 20_000 });
  await page.waitForTimeout(700);
  barriers.push(...await check(page, name + ' ' + theme + ' ' + width));
  const file = name + (width === 390 ? '-phone' : '') + (theme === 'dark' ? '-dark' : '') + '.png';
  if (pictures) await page.screenshot({ path: pictures + '/' + file, animations: 'disabled' });
}

try {
  for (const theme of ['light', 'dark']) {
    for (const width of [1280, 390]) {
      const size = { url, token, theme, width, height: width === 390 ? 844 : 800 };
      const out = await tab(browser, { ...size, signedIn: false });
      await look(out.page, 'sign-in', theme, width);
      const { page, context, faults } = await tab(browser, size);
      for (const [name, fragment] of screens) {
        await page.goto(url + '/' + fragment);
        await look(page, name, theme, width);
      }
      assert.deepEqual([...out.faults, ...faults], []);
      await out.context.close();
      await context.close();
    }
  }
  assert.deepEqual(barriers, []);
} finally {
  await browser.close();
}
