package reader

// point is a moment in the life of a child at which tests make it fail.
type point string

const (
	pointStart  point = "start"  // it has its order
	pointMiddle point = "middle" // the tree is captured
	pointEnd    point = "end"    // everything is answered
)
