package walk

import "github.com/ambit-tools/ambit/runtime/wire"

// An Unruled value is walked without its rules, so that it is written even where it
// does not keep them.
type Unruled struct{ Of wire.Value }

// Walk visits the value.
func (v Unruled) Walk(w wire.Visitor) { v.Of.Walk(ruleless{w}) }

// A ruleless visitor removes the rules from the tokens that it passes on.
type ruleless struct{ to wire.Visitor }

// Visit passes a token on.
func (r ruleless) Visit(t wire.Token) {
	t.Rule = nil
	r.to.Visit(t)
}
