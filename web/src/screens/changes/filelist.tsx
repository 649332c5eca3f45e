import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { FilePatch } from '../../lib/patch';
import { Delta } from '../../ui/parts';
import { Mark } from '../../ui/status';
import { Path } from '../../ui/text';
import { VirtualList } from '../../ui/virtual';
import { plain } from '../../lib/visible';

const letters: Record<FilePatch['change'], [string, string]> = { added: ['A', 'added'], deleted: ['D', 'deleted'], modified: ['M', 'modified'], renamed: ['R', 'renamed'] };

/** FileList lists the changed files; those that deserve a second look come first, and say so. */
export function FileList({ files, issues, viewed, jump }: { files: FilePatch[]; issues: Map<string, string[]>; viewed: Set<string>; jump: (path: string) => void }): VNode {
  const [words, setWords] = useState('');
  const risky = (f: FilePatch): boolean => f.hazards.length > 0 || issues.has(f.path);
  const shown = files.filter((f) => f.path.toLowerCase().includes(words.toLowerCase()));
  const list = [...shown.filter(risky), ...shown.filter((f) => !risky(f))];
  return (
    <>
      {files.length > 8 && <input type="search" aria-label="Find a file" placeholder="Find a file" value={words} onInput={(e) => setWords(e.currentTarget.value)} />}
      <VirtualList class="file-list" label="Changed files" count={list.length} height={() => 28} name={(i) => list[i]?.path ?? i} row={(i) => {
        const f = list[i];
        if (!f) return null;
        const [letter, word] = letters[f.change];
        return (
          <button type="button" class={'file-entry' + (viewed.has(f.path) ? ' done' : '')} onClick={() => jump(f.path)} title={plain(f.path) + (risky(f) ? ': ' + plain([...f.hazards, ...(issues.get(f.path) ?? [])].join('; ')) : '')}>
            <span class={'letter change-' + f.change} title={word}>{letter}</span>
            <span class="file-name"><Path path={f.path} /></span>
            <span class="file-risk">{risky(f) && <><Mark tone="partial" /><span class="only-spoken">deserves a second look</span></>}</span>
            <Delta plus={f.plus} minus={f.minus} />
          </button>
        );
      }} />
    </>
  );
}
