// A page during a run whose server is killed, comes back, and comes back with another token. Arguments: the server's address, a
// run. It prints what the caller is to do next and waits for a line: the new token, or anything.
import assert from 'node:assert/strict';
import { createInterface } from 'node:readline';
import { open, tab } from './browser.mjs';

const [, , url, run] = process.argv;
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const asked = async (what) => { console.log(what); return (await lines.next()).value; };

const browser = await open();
try {
  const { page, faults } = await tab(browser, { url, token: process.env.PAGE_TOKEN });
  await page.goto(url + '/#/new');
  await page.fill('#objective', 'Typed before the server died.');
  const { page: watching } = await tab(browser, { url, token: process.env.PAGE_TOKEN });
  await watching.goto(url + '/#/runs/' + run + '/activity');
  await watching.locator('.following.live').waitFor();
  // A tab that the system has frozen for a while.
  const frozen = await watching.context().newCDPSession(watching);
  await frozen.send('Page.setWebLifecycleState', { state: 'frozen' });
  await asked('kill');
  await frozen.send('Page.setWebLifecycleState', { state: 'active' });
  await watching.locator('.following.waiting, .following.connecting').waitFor();
  await watching.locator('.connection.down').waitFor();
  await asked('start');
  await watching.locator('.following.live, .following.ended').waitFor({ timeout: 40_000 });
  await watching.locator('.following.ended').waitFor({ timeout: 60_000 });
  const seqs = await watching.locator('[data-testid=event-row]').evaluateAll((rows) => rows.map((r) => Number(r.dataset.seq)));
  assert.deepEqual(seqs, seqs.map((_, i) => i + 1), 'every event once, in order');
  assert.match(await watching.locator('.events').innerText(), /number 25/);
  assert.equal(await watching.getByTestId('connection').innerText(), 'connected');

  // Another token: the page asks for it over what was typed.
  const token = await asked('renew');
  await page.getByText('does not accept this token any more').waitFor({ timeout: 20_000 });
  await page.fill('#token', token);
  await page.keyboard.press('Enter');
  await page.getByTestId('sign-in').waitFor({ state: 'detached' });
  assert.equal(await page.inputValue('#objective'), 'Typed before the server died.');
  assert.deepEqual(faults, []);
  console.log('end');
} finally {
  await browser.close();
}
process.exit(0);
