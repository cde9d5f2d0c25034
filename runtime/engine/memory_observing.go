package engine

import "github.com/ambit-tools/ambit/runtime/rules"

// observeRules returns what passes the changes of one session to f, which gets those of all; nil for a nil f.
func observeRules(f func(session string, ev rules.Event), id string) func(rules.Event) {
	if f == nil {
		return nil
	}
	return func(ev rules.Event) { f(id, ev) }
}
