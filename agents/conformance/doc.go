// Package conformance drives every registered agent through the same cases: the
// real CLIs in the real image, and the recordings of what they once said. It has
// tests only.
package conformance
