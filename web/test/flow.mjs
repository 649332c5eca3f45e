// The whole way of a person through the page. Arguments: the server's address, a repository, a task whose agent asks three times.
import assert from 'node:assert/strict';
import { check, open, tab } from './browser.mjs';

const [, , url, repository, agentTask] = process.argv;
const token = process.env.PAGE_TOKEN;
const barriers = [];

const browser = await open();
try {
  const { page, faults } = await tab(browser, { url, token, signedIn: false });

  // Sign in: a wrong token is told, the right one is kept for this address and in no cookie.
  await page.getByTestId('sign-in').waitFor();
  await page.fill('#token', 'wrong');
  await page.click('button[type=submit]');
  await page.getByText('does not know this token').waitFor();
  await page.fill('#token', token);
  await page.keyboard.press('Enter');
  await page.getByText('Nothing has run yet.').waitFor();
  assert.deepEqual(await page.context().cookies(), []);
  assert.equal(await page.getByTestId('connection').innerText(), 'connected');

  // A task is written in words: what is wrong is said at its field and at its line, the plan says what nothing can check, and a
  // reload loses nothing.
  const submit = async (task) => {
    const answer = await fetch(url + '/execute', {
      method: 'POST', headers: { Authorization: 'Bearer ' + token, 'Content-Type': 'application/json', Prefer: 'respond-async' }, body: JSON.stringify(task),
    });
    assert.equal(answer.status, 202, await answer.text());
  };
  await page.getByRole('link', { name: 'New task' }).first().click();
  await page.fill('#repo', 'nowhere');
  await page.fill('#objective', 'Change a file');
  await page.selectOption('#mode', 'command');
  await page.fill('#commands', 'printf "a \\342\\200\\256 b\\n" > new.txt; printf "\\033[31mred\\033[0m \\033]0;title\\007 done\\n"');
  await page.fill('#criteria', '$ test -f new.txt\nIt reads well.');
  await page.locator('.field-box.wrong', { has: page.locator('#repo') }).waitFor();
  await page.getByRole('button', { name: 'JSON' }).click();
  await page.locator('.json-errors').getByText('/context/repo_root').waitFor();
  await page.getByRole('button', { name: 'In words' }).click();
  await page.fill('#repo', repository);
  await page.locator('.plan').getByText('run in a fresh box').waitFor();
  await page.reload();
  await page.getByText('nothing can check').waitFor();
  barriers.push(...await check(page, 'new task'));
  await page.getByRole('button', { name: 'Run it' }).click();
  await page.waitForURL(/#\/runs\/[0-9a-z]{26}/);
  await page.getByRole('link', { name: 'Runs', exact: true }).click();
  await page.getByTestId('run-row').filter({ hasText: 'Change a file' }).getByText('partial').waitFor();
  await page.locator('body').press('ArrowDown');
  await page.keyboard.press('Enter');
  const verdict = page.getByTestId('verdict');
  await verdict.getByText('unverifiable').first().waitFor();
  assert.match(await verdict.innerText(), /exit 0 in a fresh box/);

  // What the box wrote is text: the characters that hide are shown, the sequences of terminals are not obeyed.
  await page.getByRole('link', { name: 'Changes' }).click();
  await page.getByTestId('diff-line').filter({ hasText: 'U+202E' }).waitFor();
  await page.getByText('has characters that hide').first().waitFor();
  barriers.push(...await check(page, 'changes'));
  await page.getByRole('link', { name: 'Activity' }).click();
  const output = page.getByTestId('event-row').filter({ hasText: 'red' }).locator('.output');
  await output.waitFor();
  assert.equal((await output.innerText()).trim(), 'red  done');
  assert.equal(await output.locator('.ansi-red').innerText(), 'red');
  await page.fill('[data-testid=find]', 'no such words');
  await page.keyboard.press('Enter');
  await page.getByText('not found').waitFor();

  // An agent asks; it is answered here: only after its whole input was shown, and with a reason when denied.
  await submit(JSON.parse(agentTask));
  await page.keyboard.press('Escape');
  await page.waitForFunction(() => document.title.startsWith('(1)'));
  await page.getByRole('link', { name: 'Approvals' }).click();
  let card = page.getByTestId('approval-card');
  await card.waitFor();
  assert.match(await page.getByTestId('approval-input').innerText(), /sum\.sh/);
  assert.equal(await card.getByTestId('approve').isDisabled(), true, 'a card takes no answer as soon as it appears');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Control+Enter');
  await card.getByText('computed again from what is shown').waitFor();
  barriers.push(...await check(page, 'approvals'));
  const answered = async (name) => {
    const before = await card.getAttribute('aria-labelledby');
    await card.getByTestId(name).click();
    await page.waitForFunction((b) => document.querySelector('[data-testid=approval-card]')?.getAttribute('aria-labelledby') !== b, before);
  };
  await answered('approve');
  await card.waitFor();
  await card.getByPlaceholder('Reason').fill('not that file');
  await answered('deny');
  await card.waitFor();
  await answered('approve');

  // What the agent says stands beside what was measured.
  await page.getByRole('link', { name: 'Runs', exact: true }).click();
  await page.getByTestId('run-row').first().getByText(/success|partial|failed/).first().waitFor();
  await page.getByTestId('run-row').first().click();
  await page.getByTestId('claim').getByText('The agent says').waitFor();
  assert.match(await page.getByTestId('verdict').innerText(), /approval_denied/);

  assert.deepEqual(faults, []);
  assert.deepEqual(barriers, []);
} finally {
  await browser.close();
}
