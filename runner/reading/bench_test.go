package reading

import "testing"

// BenchmarkTable measures the table as a whole: it is read and all of its forms are compiled.
func BenchmarkTable(b *testing.B) {
	for b.Loop() {
		t := readTable()
		for _, row := range t.Patterns {
			for _, f := range t.forms(row.Forms) {
				f.regexp()
			}
		}
		for _, f := range t.Frames {
			for _, f := range t.forms(f.Forms) {
				f.regexp()
			}
		}
	}
}

// BenchmarkRead measures one sentence of usual length.
func BenchmarkRead(b *testing.B) {
	p := Default()
	for b.Loop() {
		p.Read("/constraints/0", "Do not change the public API or the log format, and do not add new dependencies.")
	}
}

// BenchmarkFirst measures what the first sentence of a process costs.
func BenchmarkFirst(b *testing.B) {
	for b.Loop() {
		t := readTable()
		for _, f := range t.forms(t.Patterns[0].Forms) {
			f.regexp()
		}
	}
}
