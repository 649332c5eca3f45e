// Package leak finds what looks like a secret in text: tokens and keys by the
// form their issuers give them, and assignments that hold something random.
//
// The rules are those of gitleaks 8.30.1 (gitleaks.toml, unchanged, under the
// MIT license in gitleaks.LICENSE). Their meaning here is gitleaks' own, but for
// what the author of a text could use to excuse himself: a comment
// "gitleaks:allow" means nothing, and paths that gitleaks passes over (lock
// files, vendored packages) excuse only from the guess "generic-api-key", not
// from what has the form of a real token. Encoded text is not decoded.
//
// Go's regular expressions are slow where a match may begin almost anywhere. So most rules are first tried at their
// keywords only (anchor.go), which changes no result.
package leak
