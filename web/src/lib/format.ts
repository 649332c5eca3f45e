// How figures are written. All of them have tabular digits where they stand in columns.

const grouped = new Intl.NumberFormat('en');

export function count(n: number): string { return grouped.format(n); }

/** many writes a number with its noun. */
export function many(n: number, one: string, more = one + 's'): string { return count(n) + ' ' + (n === 1 ? one : more); }

/** short writes large numbers with three digits: 1.2k, 34k, 5.6M. */
export function short(n: number): string {
  if (n < 1000) return String(n);
  const [value, unit] = n < 1e6 ? [n / 1e3, 'k'] : [n / 1e6, 'M'];
  return (value < 10 ? value.toFixed(1) : Math.round(value).toString()) + unit;
}

export function bytes(n: number): string {
  if (n < 1024) return n + ' B';
  if (n < 1 << 20) return (n / 1024).toFixed(1) + ' KB';
  return (n / (1 << 20)).toFixed(1) + ' MB';
}

/** duration writes milliseconds: 0.4 s, 12 s, 3:05, 1:02:03. */
export function duration(ms: number): string {
  if (ms < 0) ms = 0;
  if (ms < 10_000) return (ms / 1000).toFixed(1) + ' s';
  const s = Math.round(ms / 1000);
  if (s < 60) return s + ' s';
  const two = (n: number): string => String(n).padStart(2, '0');
  const h = Math.floor(s / 3600);
  return (h > 0 ? h + ':' + two(Math.floor(s / 60) % 60) : String(Math.floor(s / 60))) + ':' + two(s % 60);
}

/** ago writes how long something was before now. */
export function ago(time: string, now: number): string {
  const s = Math.max(0, Math.round((now - Date.parse(time)) / 1000));
  if (s < 45) return 'just now';
  if (s < 3600) return Math.max(1, Math.round(s / 60)) + ' min ago';
  if (s < 86400) return Math.round(s / 3600) + ' h ago';
  if (s < 86400 * 14) return many(Math.round(s / 86400), 'day') + ' ago';
  return new Date(time).toISOString().slice(0, 10);
}

/** clock writes the time of day of an event. */
export function clock(time: string): string {
  const d = new Date(time);
  return Number.isNaN(d.getTime()) ? '' : d.toTimeString().slice(0, 8);
}

/** base is the last part of a path. */
export function base(path: string): string { return path.slice(path.lastIndexOf('/') + 1) || path; }
