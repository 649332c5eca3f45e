package capture

import (
	"fmt"

	"sandboxrun/gitdiff"
	"sandboxrun/gitdiff/gitobj"
)

// Order is a [Source] without its objects, as it is given to another process.
type Order struct {
	Root     string     `json:"root"`
	Marks    Marks      `json:"marks,omitempty"`
	BaseTree string     `json:"base_tree"`       // hex id
	Lower    string     `json:"lower"`           // hex id
	Stats    []FileStat `json:"stats,omitempty"` // see [Stats]
	Taken    int64      `json:"taken,omitempty"` // nanoseconds of the wall clock
	Budget   Budget     `json:"budget"`
}

// maxOrdered bounds the files whose metadata are part of an order. Without them every file is read, which takes longer and
// finds the same.
const maxOrdered = 500_000

// Order describes the capture for another process.
func (s *Source) Order() *Order {
	o := &Order{Root: s.Root, Marks: s.Marks, BaseTree: s.BaseTree.String(), Lower: s.Lower.String(), Budget: s.Budget}
	if s.Stat != nil && len(s.Stat.entries) <= maxOrdered {
		o.Stats, o.Taken = s.Stat.list(), s.Stat.taken
	}
	return o
}

// Source is the capture of an order, into the objects.
func (o *Order) Source(objects *gitdiff.Objects) (Source, error) {
	base, err := gitobj.ParseID(o.BaseTree)
	if err != nil {
		return Source{}, fmt.Errorf("tree that the box began with: %w", err)
	}
	lower, err := gitobj.ParseID(o.Lower)
	if err != nil {
		return Source{}, fmt.Errorf("tree below the upper layer: %w", err)
	}
	return Source{Root: o.Root, Marks: o.Marks, Objects: objects, BaseTree: base, Lower: lower, Stat: statsOf(o.Stats, o.Taken), Budget: o.Budget}, nil
}

// FileStat is what a [Stats] knows of one file.
type FileStat struct {
	Path  []byte `json:"path"` // raw bytes, slash-separated and relative to the tree
	Dev   uint64 `json:"dev"`
	Ino   uint64 `json:"ino"`
	CTime int64  `json:"ctime"` // nanoseconds
	Size  int64  `json:"size"`  // bytes
	Mode  uint32 `json:"mode"`
}

// list is what was recorded, in any order.
func (c *Stats) list() []FileStat {
	c.mu.Lock()
	defer c.mu.Unlock()
	list := make([]FileStat, 0, len(c.entries))
	for path, k := range c.entries {
		list = append(list, FileStat{Path: []byte(path), Dev: k.dev, Ino: k.ino, CTime: k.ctime, Size: k.size, Mode: k.mode})
	}
	return list
}

// statsOf is the recording that a list is of; nil of nothing.
func statsOf(list []FileStat, taken int64) *Stats {
	if len(list) == 0 {
		return nil
	}
	c := NewStats(len(list))
	for _, f := range list {
		c.entries[string(f.Path)] = statKey{dev: f.Dev, ino: f.Ino, ctime: f.CTime, size: f.Size, mode: f.Mode}
	}
	c.taken = taken
	return c
}
