package engine

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/rewrites"
	"github.com/ambit-tools/ambit/runtime/internal/walk"
	"github.com/ambit-tools/ambit/runtime/internal/wording"
	"github.com/ambit-tools/ambit/runtime/wire"
)

var errNotStable = errors.New("a rewrite must leave alone what is as it wants it")

// rewrite applies the rewrites of list to the text of arguments and decodes the result as strictly
// as any input. Members that are not rewritten keep their text, numbers to the last digit, and
// absent members still get their defaults.
func (c *ident) rewrite(text []byte, of wire.Value, list []runtime.Rewrite) ([]byte, wire.Value, error) {
	text, err := rewrites.Apply(text, encoded(of), list, c.tool.spec.InputLimit())
	if err != nil {
		return nil, nil, err
	}
	args, violations := c.tool.Decode(text)
	if violations != nil {
		return nil, nil, fmt.Errorf("the rewritten arguments are invalid: %s", wording.Violations(violations))
	}
	return text, args, nil
}

// equalValues reports whether two values are equal.
func equalValues(a, b wire.Value) bool {
	x, err := wire.AppendCanonical(nil, a)
	if err != nil {
		return false
	}
	y, err := wire.AppendCanonical(nil, b)
	return err == nil && bytes.Equal(x, y)
}

// encoded returns a value as JSON, nil when there is none. It does not check the rules of the
// schema, because the defaults of a decoded value may add more members than the schema allows.
func encoded(v wire.Value) []byte {
	if v == nil {
		return nil
	}
	b, _ := wire.Append(nil, walk.Unruled{Of: v})
	return b
}
