// Package redact hides known secret values in text that leaves a run.
//
// A [Redactor] knows values by name. Wherever one occurs, "[redacted:NAME]"
// takes its place. Beside the value as it is, these forms of it are found:
//
//   - base64, standard and URL alphabet, with or without padding, also inside of
//     a longer encoded text (at each of the three alignments) and wrapped into
//     lines; of a value inside of a longer text the first or last character,
//     which belongs to its neighbours too, may stay;
//   - hexadecimal digits of either case, also wrapped into lines or with one
//     of the usual separators between them;
//   - percent-encoded, JSON-escaped or backslash-escaped, as a whole or any of
//     its characters, so also inside of JSON that is inside of JSON;
//   - split over any number of writes, through a [Stream].
//
// What is not found, because no list of transformations has an end: a value
// that is reversed, encrypted, compressed, hashed, in another base (32, 58, 85)
// or character set (UTF-16), encoded twice in different ways, spelled with
// anything between its characters (spaces, colours of a terminal, the gutter of
// a hex dump), or given out in parts. A redactor keeps secrets out of records
// they get into by accident or by a simple trick. What keeps them from who
// wants to steal them is that no box ever holds one.
package redact
