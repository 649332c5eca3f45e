package images

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
)

// Digest identifies what the image is made of: the recipe with its agents, the
// base image, the CA bundle and the arguments the recipe declares. Arguments that only say how to
// reach the network, the proxies, do not change it. It is lower-case hexadecimal.
func (b Build) Digest() string {
	h := sha256.New()
	field := func(name string, value []byte) {
		// The length keeps neighbouring fields from running into each other.
		fmt.Fprintf(h, "%s %d\n", name, len(value))
		h.Write(value)
	}
	field("dockerfile", b.Dockerfile())
	field("base", []byte(b.BaseID))
	field("ca", b.CABundle)
	declared := declaredArgs()
	for _, name := range slices.Sorted(maps.Keys(b.Args)) {
		if _, ok := declared[name]; ok {
			field(name, []byte(b.Args[name]))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
