package dsl

import "io/fs"

// An Option adds to what Parse checks.
type Option func(*parser)

// A parser holds what is known of one file while it is read.
type parser struct {
	src    source
	file   *File
	levels *levels
	found  Diagnostics
	warned []Warning

	defaults Defaults // of tools
	refs     []reference
	guesses  int // suggestions looked for
	enums    map[*Schema]map[string]bool
	unions   []*Schema
	under    []string              // the keys above what is being read
	root     *node                 // the whole file
	checked  []*schemaWork         // checked and composed schemas
	asking   map[*node]bool        // whether these are checked is being decided
	roots    map[*node]*schemaRoot // of the entries of types
	verdicts map[asked]bool        // whether schemas are checked
	endless  map[asked]bool        // whether schemas hold themselves without a name in Go
	copied   int                   // nodes written anew for references
	types    map[string]*NamedSchema
	tools    map[string]*Tool
	places   map[string]Pos                    // of the keys of the file
	pattern  func(string) (fault, hint string) // nil: anything is one
	files    fs.FS                             // nil: references lead to no files
	part     func(Part)                        // nil: the caller does not want it
	// checks need the whole file and run last.
	checks []func()
}

// asked is a schema of which something is asked, and what # means in it.
type asked struct {
	n    *node
	root *schemaRoot
	top  bool
}

// maxFaults ends the list of a file that is not a declaration at all.
const maxFaults = 10000

// report notes a fault and goes on.
func (p *parser) report(pos Pos, hint, format string, args ...any) {
	if len(p.found) == maxFaults {
		hint, format, args = "mend these first", "more than %d faults, the others are not shown", []any{maxFaults}
	} else if len(p.found) > maxFaults {
		return
	}
	p.found = append(p.found, p.src.diagnostic(pos, hint, format, args...))
}

// warn notes what is no fault and may not be meant.
func (p *parser) warn(code string, pos Pos, hint, format string, args ...any) {
	if len(p.warned) < maxFaults {
		p.warned = append(p.warned, Warning{Code: code, Diagnostic: p.src.diagnostic(pos, hint, format, args...)})
	}
}

// later runs a check once every schema and tool is known.
func (p *parser) later(check func()) { p.checks = append(p.checks, check) }
