package ir

import (
	"go/token"
	"go/types"
	"strconv"
	"unicode"

	"github.com/ambit-tools/ambit/dsl"
)

// A scope is one Go name space: the package block, the methods of Handler, or
// the fields of a struct.
type scope struct {
	taken map[string]holder
}

// A holder is what a name stands for, and where it was declared.
type holder struct {
	what string
	pos  dsl.Pos
}

// newPackageScope returns the package block with the names that generated
// files use themselves: their own declarations and the packages they import.
// Keywords and predeclared names are taken too, so that no declaration of
// ours hides one.
func newPackageScope() *scope {
	s := &scope{taken: map[string]holder{}}
	for _, name := range []string{"Handler", "UnimplementedHandler", "Tools"} {
		s.taken[name] = holder{what: "the generated " + name}
	}
	for _, name := range []string{"context", "embed", "time", "runtime", "wire"} {
		s.taken[name] = holder{what: "an imported package"}
	}
	for _, name := range types.Universe.Names() {
		s.taken[name] = holder{what: "a predeclared name"}
	}
	for t := token.BREAK; t <= token.VAR; t++ {
		s.taken[t.String()] = holder{what: "a Go keyword"}
	}
	return s
}

// newMethodScope returns the methods of Handler. Who embeds UnimplementedHandler
// has a field of that name, beside which no method may have it.
func newMethodScope() *scope {
	return &scope{taken: map[string]holder{"UnimplementedHandler": {what: "the generated UnimplementedHandler"}}}
}

// unique takes name, or name with the first number that makes it free.
func (s *scope) unique(name string) string {
	free := name
	for i := 2; ; i++ {
		if _, ok := s.taken[free]; !ok {
			break
		}
		free = name + strconv.Itoa(i)
	}
	s.taken[free] = holder{}
	return free
}

// lower makes an exported name unexported: fileRead, urlFetch, id.
func lower(name string) string {
	runes := []rune(name)
	n := 0
	for n < len(runes) && unicode.IsUpper(runes[n]) {
		n++
	}
	if n > 1 && n < len(runes) && unicode.IsLower(runes[n]) {
		n-- // the last capital starts the next word
	}
	for i := range max(n, 1) {
		runes[i] = unicode.ToLower(runes[i])
	}
	return string(runes)
}
