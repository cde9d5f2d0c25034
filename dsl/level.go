package dsl

import (
	"slices"

	"github.com/invopop/jsonschema"
)

// A key is one key of a mapping: how Parse reads its value, and what the editor schema
// and docs/declaration.md say of it. There is no other list of keys.
type key[T any] struct {
	name     string
	required bool
	is       word
	doc      string // what the key means
	without  string // what holds without it
	rules    string // the sections of docs/semantics.md that say what it does
	read     func(p *parser, n *node, dst *T)
}

// keys are those of one mapping, in the order of the editor schema.
type keys[T any] []key[T]

// A level is one kind of mapping of the declaration.
type level[T any] struct {
	def  string // its name in $defs of the editor schema; empty for the file
	what string // in "it is a key of ..."
	keys keys[T]
	// only holds the keys that have one value, with it.
	only map[string]string
	// unknown, when set, explains a key that is known but refused.
	unknown func(key string) (message, hint string)
	// exempt, when set, names required keys that need not be there in a mapping.
	exempt func(n *node) []string
	// conditions, when set, adds to the editor schema what several keys say together.
	conditions func(*jsonschema.Schema)
}

// key returns the key of a name, nil when the mapping has none.
func (l level[T]) key(name string) *key[T] {
	for i := range l.keys {
		if l.keys[i].name == name {
			return &l.keys[i]
		}
	}
	return nil
}

// names returns the keys of the mapping, sorted.
func (l level[T]) names() []string {
	all := make([]string, len(l.keys))
	for i, k := range l.keys {
		all[i] = k.name
	}
	slices.Sort(all)
	return all
}

// required returns the keys that must be there, in their order.
func (l level[T]) required() []string {
	var all []string
	for _, k := range l.keys {
		if k.required {
			all = append(all, k.name)
		}
	}
	return all
}

// levels are all the mappings of the declaration. They are built for each file,
// because Go has no constant maps.
type levels struct {
	file     level[File]
	tool     level[Tool]
	limits   level[Limits]
	defaults level[Defaults]
	// defaultConsent is consent in defaults.
	defaultConsent level[Defaults]
	retry          level[Retry]
	idempotency    level[Idempotency]
	consent        level[Consent]
	undo           level[Undo]
	artifact       level[Artifact]
	deprecated     level[Deprecated]
	setRules       level[Rules]
	rules          level[Rules]
	maxCalls       level[Rules]
	cooldown       level[Rules]
	preceding      level[Rules]
	operations     level[AllowedOperations]
	schema         level[schemaWork]
	command        level[Command]
	element        level[Element]
	shell          level[Shell]
	exit           level[Exit]
	memoryBound    level[memoryBound]
	sizeBound      level[Bound]
	countBound     level[Bound]
	timeBound      level[Bound]
	// homes names for every key the levels that have it.
	homes map[string][]string
}
