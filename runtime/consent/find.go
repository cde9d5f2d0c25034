package consent

import (
	"errors"

	"github.com/ambit-tools/ambit/runtime/internal/walk"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// A finder keeps the tokens of the value at a path.
type finder struct {
	track walk.Track
	path  []string
	found walk.Tokens
	depth int // inside of what is kept
}

// find returns the value at a path, nil when there is none.
func find(v wire.Value, path []string) walk.Tokens {
	f := finder{path: path}
	v.Walk(&f)
	return f.found
}

// Visit keeps t if it belongs to the value that is looked for.
func (f *finder) Visit(t wire.Token) {
	if f.depth > 0 || walk.Begins(t) && f.found == nil && f.track.Leads(f.path) {
		f.found = append(f.found, t)
		f.depth += walk.Deeper(t)
	}
	f.track.Step(t)
}

// parseMember returns the path that the name of a top-level member or a JSON
// Pointer stands for.
func parseMember(text string) ([]string, error) {
	switch {
	case text == "":
		return nil, errors.New("a predicate names no member: write its name, or a JSON Pointer")
	case text[0] != '/':
		return []string{text}, nil
	}
	return wire.ParsePointer(text)
}
