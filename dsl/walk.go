package dsl

import (
	"maps"
	"regexp"
	"slices"
	"strings"

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
	// homes names for every key the levels that have it.
	homes map[string][]string
}

func newLevels() *levels {
	l := &levels{
		file: fileLevel(), tool: toolLevel(), limits: limitsLevel(), defaults: defaultsLevel(), defaultConsent: defaultConsentLevel(), retry: retryLevel(), idempotency: idempotencyLevel(),
		consent: consentLevel(), undo: undoLevel(), artifact: artifactLevel(), deprecated: deprecatedLevel(),
		setRules: setRulesLevel(), rules: rulesLevel(), maxCalls: maxCallsLevel(), cooldown: cooldownLevel(), preceding: precedingLevel(), operations: operationsLevel(),
		schema: schemaLevel(), homes: make(map[string][]string),
	}
	home(l, l.file)
	home(l, l.tool)
	home(l, l.limits)
	home(l, l.defaults)
	home(l, l.defaultConsent)
	home(l, l.retry)
	home(l, l.idempotency)
	home(l, l.consent)
	home(l, l.undo)
	home(l, l.artifact)
	home(l, l.deprecated)
	home(l, l.setRules)
	home(l, l.rules)
	home(l, l.maxCalls)
	home(l, l.cooldown)
	home(l, l.preceding)
	home(l, l.operations)
	home(l, l.schema)
	return l
}

func home[T any](l *levels, of level[T]) {
	for _, key := range of.keys {
		l.homes[key.name] = append(l.homes[key.name], of.what)
	}
}

// walk hands every entry of a mapping to the function of its key, and reports
// unknown and missing keys. Owner names the mapping in messages, at is its place
// in the file. It returns where each key stands.
func walk[T any](p *parser, n *node, l level[T], owner string, at Pos, dst *T) map[string]Pos {
	if !p.isMap(n, owner) {
		return nil
	}
	places := make(map[string]Pos, len(n.pairs))
	var meant []string
	for _, e := range n.pairs {
		if e.twin {
			continue
		}
		places[e.name] = e.key
		if key := l.key(e.name); key != nil {
			key.read(p, e.val, dst)
			continue
		}
		p.unknownKey(e, owner, l.names(), l.unknown)
		meant = append(meant, p.closest(e.name, l.required()))
	}
	missing := slices.DeleteFunc(l.required(), func(key string) bool {
		_, ok := places[key]
		return ok || slices.Contains(meant, key) // the misspelt key is one fault, not two
	})
	if len(missing) > 0 {
		add := make([]string, len(missing))
		for i, key := range missing {
			add[i] = key
			if value := l.only[key]; value != "" {
				add[i] += ": " + value
			}
		}
		p.report(at, "add "+strings.Join(add, ", ")+"; "+quote("ambit schema")+" says what each key means",
			"%s has no %s", owner, strings.Join(missing, ", "))
	}
	return places
}

func (p *parser) unknownKey(e pair, owner string, known []string, explain func(string) (string, string)) {
	if explain != nil {
		if message, hint := explain(e.name); message != "" {
			p.report(e.key, hint, "%s: %s", owner, message)
			return
		}
	}
	hint := ""
	if e.val.kind == nodeNull && strings.Contains(e.name, " ") {
		hint = "quote the text before it: inside { } a comma ends a text"
	} else if name := p.closest(e.name, known); name != "" {
		hint = "did you mean " + quote(name) + "?"
	} else if homes := p.levels.homes[e.name]; len(homes) > 0 {
		hint = e.name + " is a key of " + strings.Join(homes, " and of ")
	} else if len(known) < 16 {
		hint = p.didYouMean(e.name, known)
	} else if name := p.closest(e.name, sortedKeys(p.levels.homes)); name != "" {
		hint = "did you mean " + quote(name) + ", a key of " + strings.Join(p.levels.homes[name], " and of ") + "?"
	} else {
		hint = "remove it; " + quote("ambit schema") + " lists the keys"
	}
	p.report(e.key, hint, "unknown key %s in %s", quote(e.name), owner)
}

// name refuses a key that is not a legal name.
func (p *parser) name(e pair, what string, re *regexp.Regexp) bool {
	if re.MatchString(e.name) {
		return true
	}
	p.report(e.key, rule(re), "%s name %s is not allowed", what, quote(e.name))
	return false
}

// names maps Go identifiers to the names that took them.
type names map[string]string

// unique refuses a name whose Go identifier is taken. Names that are equal or
// differ only by case have been refused with the keys.
func (p *parser) unique(taken names, name string, pos Pos, what string) {
	id := GoName(name)
	if first, ok := taken[id]; ok {
		p.report(pos, "rename one of them", "%s %s and %s %s both become %s in Go", what, quote(name), what, quote(first), id)
		return
	}
	taken[id] = name
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
