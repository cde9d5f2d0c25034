package dsl

import (
	"regexp"
	"slices"
	"strings"
)

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
	var exempt []string
	if l.exempt != nil {
		exempt = l.exempt(n)
	}
	missing := slices.DeleteFunc(l.required(), func(key string) bool {
		_, ok := places[key]
		return ok || slices.Contains(exempt, key) || slices.Contains(meant, key) // the misspelt key is one fault, not two
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

// knownTool refuses the name of a tool that is not declared.
func (p *parser) knownTool(pos Pos, key, name string) {
	if p.tools[name] != nil {
		return
	}
	for _, t := range p.file.Tools {
		if t.Alias == name || slices.Contains(t.RenamedFrom, name) {
			p.report(pos, "write "+t.Name, "%s: %s is now %s", key, quote(name), quote(t.Name))
			return
		}
	}
	p.report(pos, guess(p, name, p.tools), "%s: no tool is named %s", key, quote(name))
}
