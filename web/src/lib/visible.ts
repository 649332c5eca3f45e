// Characters that a reader cannot see, or that change the order of what a reader sees, are shown by their number. Text
// of boxes is never shown without this.

// Controls but tab and newline, soft hyphen, combining grapheme joiner, fillers, zero-width and bidirectional characters, variation
// selectors of no use in text, separators of lines, tags, the byte order mark, lone surrogates.
const hidden = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202E\u2060-\u206F\u3164\uFE00-\uFE0E\uFEFF\uFFA0\uFFF0-\uFFFB]|[\u{1BCA0}-\u{1BCA3}\u{1D173}-\u{1D17A}\u{E0000}-\u{E0FFF}]|\p{Cs}/gu;

export interface Piece { text: string; hidden: boolean }

/** pieces splits text where it has characters that cannot be seen. */
export function pieces(text: string): Piece[] {
  const out: Piece[] = [];
  let at = 0;
  for (const found of text.matchAll(hidden)) {
    if (found.index > at) out.push({ text: text.slice(at, found.index), hidden: false });
    out.push({ text: name(found[0]), hidden: true });
    at = found.index + found[0].length;
  }
  if (at < text.length) out.push({ text: text.slice(at), hidden: false });
  return out;
}

function name(character: string): string {
  return 'U+' + (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}

/** plain writes hidden characters by number within one string, for titles and labels. */
export function plain(text: string): string { return text.replace(hidden, (c) => '‹' + name(c) + '›'); }

/** misleading reports whether text has characters that change the order of what a reader sees, or hide. */
export function misleading(text: string): boolean { return /[\u061C\u200B-\u200F\u202A-\u202E\u2060-\u2069\uFEFF]|[\u{E0000}-\u{E0FFF}]/u.test(text); }
