package argv

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/runtime"
)

// A Value is what an argument can be made of.
type Value interface{ ~string | ~int64 | ~bool }

// A Builder makes the arguments of a command, for generated code.
type Builder struct {
	argv []string
	err  error // the first
}

// New returns a builder that begins with literals, the name of the program first.
func New(literals ...string) *Builder { return &Builder{argv: literals} }

// Add adds literals.
func (b *Builder) Add(literals ...string) { b.argv = append(b.argv, literals...) }

// When adds a literal where a member is true.
func (b *Builder) When(on bool, literal string) {
	if on {
		b.argv = append(b.argv, literal)
	}
}

// A Piece is a part of an argument: a literal, or the value of a member.
type Piece struct{ member, text string }

// Text is a literal piece.
func Text(literal string) Piece { return Piece{text: literal} }

// Of is the value of a member as a piece.
func Of[T Value](member string, value T) Piece { return Piece{member, format(value)} }

// One adds one argument that is made of pieces.
func (b *Builder) One(pieces ...Piece) {
	var all strings.Builder
	for _, p := range pieces {
		b.check(p.member, -1, p.text)
		all.WriteString(p.text)
	}
	b.argv = append(b.argv, all.String())
}

// Each adds an argument for each element of a member.
func Each[T Value](b *Builder, member string, values []T) {
	for i, v := range values {
		text := format(v)
		b.check(member, i, text)
		b.argv = append(b.argv, text)
	}
}

func (b *Builder) check(member string, index int, text string) {
	if b.err == nil && member != "" && strings.ContainsRune(text, 0) {
		b.err = &runtime.ArgumentError{Member: member, Index: index}
	}
}

// Argv returns the arguments. The error is a *ValueError.
func (b *Builder) Argv() ([]string, error) {
	if b.err != nil {
		return nil, b.err
	}
	return b.argv, nil
}

func format[T Value](v T) string {
	switch v := any(v).(type) { // the common ones; a named type falls through
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return fmt.Sprint(v)
}
