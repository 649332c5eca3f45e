// The whole way of a person through the page. Arguments: the server's address, a repository.
import assert from 'node:assert/strict';
import { check, open, tab } from './browser.mjs';

const [, , url, repository] = process.argv;
const token = process.env.PAGE_TOKEN;
const barriers = [];

const browser = await open();
try {
  const { page, faults } = await tab(browser, { url, token, signedIn: false });

  // Sign in: a wrong token is told, the right one is kept for this address and in no cookie.
  await page.getByTestId('sign-in').waitFor();
  barriers.push(...await check(page, 'sign in'));
  await page.fill('#token', 'wrong');
  await page.click('button[type=submit]');
  await page.getByText('does not know this token').waitFor();
  await page.fill('#token', token);
  await page.keyboard.press('Enter');
  await page.getByText('Nothing has run yet.').waitFor();
  assert.deepEqual(await page.context().cookies(), []);
  assert.equal(await page.getByTestId('connection').innerText(), 'connected');
  barriers.push(...await check(page, 'no runs'));

  // A task of somebody else appears by itself.
  const answer = await fetch(url + '/execute', {
    method: 'POST', headers: { Authorization: 'Bearer ' + token, 'Content-Type': 'application/json', Prefer: 'respond-async' },
    body: JSON.stringify({
      task_id: 'from-outside', objective: 'Change a file', execution_mode: 'command', context: { repo_root: repository },
      suggested_commands: ['echo new > new.txt'],
    }),
  });
  assert.equal(answer.status, 202);
  await page.getByTestId('run-row').filter({ hasText: 'Change a file' }).getByText('success').waitFor();
  barriers.push(...await check(page, 'runs'));

  assert.deepEqual(faults, []);
  assert.deepEqual(barriers, []);
} finally {
  await browser.close();
}
