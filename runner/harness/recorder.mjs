// A reporter for node --test: writes one line for every test that ended, in the form of Line, to a file of the directory that
// SANDBOXRUN_REPORTS names. What it starts does not inherit it, so that runs of other tests within a test are not recorded.
import fs from 'node:fs';
import path from 'node:path';
const dir = process.env.SANDBOXRUN_REPORTS;
delete process.env.SANDBOXRUN_REPORTS;
process.env.NODE_OPTIONS = process.env.SANDBOXRUN_NODE_OPTIONS || '';
delete process.env.SANDBOXRUN_NODE_OPTIONS;
const file = dir && path.join(dir, 'node-' + process.pid + '.jsonl');
const put = (l) => { try { if (file) fs.appendFileSync(file, JSON.stringify(l) + '\n'); } catch {} };
const said = (e) => String((e && e.cause && (e.cause.stack || e.cause.message || e.cause)) || (e && e.message) || '').slice(0, 500);
export default async function* record(events) {
  put({ e: 'begin' });
  const open = [], printed = new Map(), times = new Map();
  for await (const { type, data } of events) {
    if (type === 'test:stderr' && data.file) printed.set(data.file, ((printed.get(data.file) || '') + data.message).slice(-2000));
    if (type === 'test:start') { open.length = data.nesting; open[data.nesting] = data.name; }
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const d = data.details || {}, err = d.error, failed = type === 'test:fail';
    if (failed && err && err.failureType === 'subtestsFailed' || !failed && d.type === 'suite') continue;
    const unit = data.file ? path.relative(process.cwd(), data.file) : '';
    const whole = data.nesting === 0 && (data.name === data.file || path.resolve(data.name) === data.file);
    let name = open.slice(0, data.nesting).concat(data.name).join(' / ');
    if (!whole) {
      const key = unit + '\n' + name, n = (times.get(key) || 0) + 1;
      times.set(key, n);
      if (n > 1) name += ' #' + n;
    }
    const skipped = data.skip !== undefined && data.skip !== false || data.todo !== undefined && data.todo !== false;
    const line = { e: 'test', u: unit, n: whole ? '' : name, s: skipped ? 'skip' : failed ? 'fail' : 'pass' };
    if (failed) line.w = whole ? (printed.get(data.file) || said(err)).slice(-500) : said(err);
    put(line);
  }
  put({ e: 'end' });
}
export { spec, tap } from 'node:test/reporters';
