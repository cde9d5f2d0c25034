package ir

import (
	"go/token"
	"go/types"
	"slices"
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

// A spelled is a name of the declaration with what it may be called in Go: plainly, and from
// the shortest to one that no other name has.
type spelled struct {
	name, plain string
	others      []string
}

// exact reports whether the plain name in Go is spelled as the declaration spells it.
func (s spelled) exact() bool { return s.name == s.plain }

// candidates are all names that s may have in Go, the plain one first.
func (s spelled) candidates() []string {
	all := []string{s.plain}
	for _, other := range s.others {
		if !slices.Contains(all, other) {
			all = append(all, other)
		}
	}
	return all
}

// distinguish gives each name of a list its name in Go, whatever their order. Of names that would have
// the same one the name that is spelled so keeps it, and all others are called by what sets them apart: a name that is
// added takes no name that code knows for another, unless it is that name itself.
func distinguish(all []spelled) []string {
	having := map[string][]int{} // who may have a name
	collides := make([]bool, len(all))
	var join func(i int)
	enter := func(i int, candidate string) {
		having[candidate] = append(having[candidate], i)
		if len(having[candidate]) > 1 {
			for _, other := range having[candidate] {
				if all[other].plain == candidate {
					join(other)
				}
			}
		}
	}
	join = func(i int) {
		if collides[i] || all[i].exact() {
			return
		}
		collides[i] = true
		for _, candidate := range all[i].candidates()[1:] {
			enter(i, candidate)
		}
	}
	for i, s := range all {
		enter(i, s.plain)
	}
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = s.plain
		if !collides[i] {
			continue
		}
		candidates := s.candidates()
		out[i] = candidates[len(candidates)-1]
		for _, candidate := range candidates[1:] {
			if len(having[candidate]) == 1 {
				out[i] = candidate
				break
			}
		}
	}
	return out
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
