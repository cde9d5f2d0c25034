package ir

import (
	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A builder holds what is known while a Package is made.
type builder struct {
	file    *dsl.File
	pkg     *Package
	scope   *scope // the package block
	methods *scope // of Handler
	errs    dsl.Diagnostics

	named    map[*dsl.NamedSchema]*Type  // what a declared schema became
	names    map[*dsl.NamedSchema]string // the Go name that it has or would have
	given    map[string]bool             // the Go names that the declaration gives
	busy     map[*dsl.NamedSchema]bool   // being lowered, and without a Go name
	types    map[string]*Type            // the declared Go types
	patterns map[string]*Pattern         // by source
	nevers   map[*wire.Schema]*conflict  // tables that no value fits
	library  *library                    // of what checked schemas refer to; nil before the first
	fixups   []func()                    // wait until every Type is complete

	inTables, looked int // nodes of all tables, and those that were looked at for contradictions
}

// errorf notes an error about the declaration.
func (b *builder) errorf(pos dsl.Pos, hint, format string, args ...any) {
	b.errs = append(b.errs, b.file.Diagnostic(pos, hint, format, args...))
}

// at is where a keyword of s stands.
func (b *builder) at(s *dsl.Schema, key string) dsl.Pos {
	if pos, ok := s.Keys[key]; ok {
		return pos
	}
	return s.Pos
}
