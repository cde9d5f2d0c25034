package ir

import "github.com/ambit-tools/ambit/dsl"

// NoValue reports whether no value is known to fit the first type of a declaration, which is
// checked.
func NoValue(f *dsl.File) bool {
	b := newBuilder(f)
	b.build()
	t := b.named[f.Types[0]]
	return t != nil && t.Rule != nil && b.nevers[t.Rule.Schema()] != nil
}
