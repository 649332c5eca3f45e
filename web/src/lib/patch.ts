// Reads a patch as git writes it. Its text comes from a box: whatever it holds, every line ends up as text.

export interface Line { kind: ' ' | '+' | '-' | '\\'; text: string; old: number; new: number }
export interface Hunk { header: string; context: string; lines: Line[] }
export interface FilePatch {
  path: string; oldPath: string; change: 'modified' | 'added' | 'deleted' | 'renamed'; binary: boolean;
  oldMode: string; newMode: string; plus: number; minus: number; hunks: Hunk[]; hazards: string[];
}

/** parsePatch reads all files of a patch. */
export function parsePatch(text: string): FilePatch[] {
  const files: FilePatch[] = [];
  let file: FilePatch | undefined;
  let hunk: Hunk | undefined;
  let oldLine = 0, newLine = 0, oldLeft = 0, newLeft = 0;
  let from = 0;
  while (from < text.length) {
    let to = text.indexOf('\n', from);
    if (to < 0) to = text.length;
    const line = text.slice(from, to);
    from = to + 1;
    if (hunk && (oldLeft > 0 || newLeft > 0 || line.startsWith('\\'))) {
      const first = line[0];
      if (first === '+') { hunk.lines.push({ kind: '+', text: line.slice(1), old: 0, new: newLine++ }); newLeft--; if (file) file.plus++; continue; }
      if (first === '-') { hunk.lines.push({ kind: '-', text: line.slice(1), old: oldLine++, new: 0 }); oldLeft--; if (file) file.minus++; continue; }
      if (first === ' ' || line === '') { hunk.lines.push({ kind: ' ', text: line.slice(1), old: oldLine++, new: newLine++ }); oldLeft--; newLeft--; continue; }
      if (first === '\\') { hunk.lines.push({ kind: '\\', text: line.slice(2), old: 0, new: 0 }); continue; }
    }
    if (line.startsWith('diff --git ')) {
      const [a, b] = names(line.slice(11));
      file = { path: b, oldPath: a, change: 'modified', binary: false, oldMode: '', newMode: '', plus: 0, minus: 0, hunks: [], hazards: [] };
      files.push(file);
      hunk = undefined;
      continue;
    }
    if (!file) continue;
    const at = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/.exec(line);
    if (at) {
      oldLine = Number(at[1]); oldLeft = Number(at[2] ?? 1); newLine = Number(at[3]); newLeft = Number(at[4] ?? 1);
      hunk = { header: line.slice(0, line.indexOf('@@', 3) + 2), context: at[5] ?? '', lines: [] };
      file.hunks.push(hunk);
    } else head(file, line);
  }
  for (const f of files) f.hazards = hazardsOf(f);
  return files;
}

function head(file: FilePatch, line: string): void {
  const after = (word: string): string | undefined => (line.startsWith(word) ? line.slice(word.length) : undefined);
  let rest: string | undefined;
  if ((rest = after('new file mode ')) !== undefined) { file.change = 'added'; file.newMode = rest; }
  else if ((rest = after('deleted file mode ')) !== undefined) { file.change = 'deleted'; file.oldMode = rest; }
  else if ((rest = after('old mode ')) !== undefined) file.oldMode = rest;
  else if ((rest = after('new mode ')) !== undefined) file.newMode = rest;
  else if ((rest = after('rename from ')) !== undefined) { file.change = 'renamed'; file.oldPath = unquote(rest); }
  else if ((rest = after('rename to ')) !== undefined) file.path = unquote(rest);
  else if ((rest = after('+++ ')) !== undefined) { if (rest !== '/dev/null') file.path = unquote(rest.replace(/\t$/, '')).slice(2); }
  else if ((rest = after('--- ')) !== undefined) { if (rest !== '/dev/null') file.oldPath = unquote(rest.replace(/\t$/, '')).slice(2); }
  else if ((rest = after('index ')) !== undefined) { const mode = /^[0-9a-f]+\.\.[0-9a-f]+ (\d+)$/.exec(rest); if (mode) file.newMode ||= mode[1] ?? ''; }
  else if (line.startsWith('GIT binary patch') || line.startsWith('Binary files ')) file.binary = true;
}

/** names splits "a/x b/x"; where a name holds " b/", both halves are the same. */
function names(text: string): [string, string] {
  if (text.startsWith('"')) {
    const end = text.search(/[^\\]" /);
    if (end > 0) return [unquote(text.slice(0, end + 2)).slice(2), unquote(text.slice(end + 3)).slice(2)];
  }
  const half = (text.length - 1) / 2;
  if (text.slice(2, half) === text.slice(half + 3)) return [text.slice(2, half), text.slice(half + 3)];
  const at = text.indexOf(' b/');
  return [text.slice(2, at), text.slice(at + 3)];
}

const escapes: Record<string, string> = { n: '\n', t: '\t', r: '\r', a: '\u0007', b: '\b', f: '\f', v: '\v', '"': '"', '\\': '\\' };

/** unquote reads a name in git's quotes: bytes in octal. */
function unquote(text: string): string {
  if (!text.startsWith('"') || !text.endsWith('"')) return text;
  const bytes: number[] = [];
  const put = (s: string): void => { bytes.push(...new TextEncoder().encode(s)); };
  const inner = text.slice(1, -1);
  for (let i = 0; i < inner.length; i++) {
    const c = inner[i] ?? '';
    if (c !== '\\') { const point = inner.codePointAt(i) ?? 0; put(String.fromCodePoint(point)); if (point > 0xffff) i++; continue; }
    const octal = /^[0-3][0-7]{2}/.exec(inner.slice(i + 1));
    if (octal) { bytes.push(parseInt(octal[0], 8)); i += 3; } else { put(escapes[inner[++i] ?? ''] ?? ''); }
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

const hidden = /[\u061C\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]/;

/** What of a file deserves a second look, in words. The runner's own issues are shown beside them. */
function hazardsOf(f: FilePatch): string[] {
  const out: string[] = [];
  const p = f.path.toLowerCase();
  if (/^\.github\/(workflows|actions)\//.test(p) || /(^|\/)(\.gitlab-ci\.yml|jenkinsfile|azure-pipelines\.yml)$/.test(p) || p.startsWith('.circleci/')) out.push('runs in continuous integration');
  if (/(^|\/)(\.husky|\.githooks|hooks)\//.test(p) || /(^|\/)\.(pre-commit-config\.yaml|envrc|gitattributes|gitmodules)$/.test(p) || p.startsWith('.vscode/') || p.startsWith('.devcontainer/')) out.push('acts on the machine of who opens or commits');
  if (f.newMode === '120000') out.push('is a symbolic link');
  if (f.newMode === '160000') out.push('is a submodule');
  if (f.oldMode !== '' && f.newMode !== '' && f.oldMode !== f.newMode) out.push('mode ' + f.oldMode + ' → ' + f.newMode);
  else if (f.change === 'added' && f.newMode === '100755') out.push('is executable');
  if (hidden.test(f.path)) out.push('its name has characters that hide');
  if (f.hunks.some((h) => h.lines.some((l) => l.kind === '+' && hidden.test(l.text)))) out.push('has characters that hide or change the order of text');
  return out;
}
