package dsl

import (
	"strings"
	"unicode"
)

func (p *parser) parseAlias(n *node, t *Tool) {
	text, ok := p.text(n, "alias")
	switch {
	case !ok:
	case len([]rune(text)) > maxAlias || strings.TrimSpace(text) != text || strings.ContainsFunc(text, unseen):
		p.report(n.pos, "write at most 128 characters that print, as clients know the tool", "alias %s is not allowed", quote(text))
	case text == t.Name:
		p.report(n.pos, "remove it", "alias: %s is the name of the tool itself", quote(text))
	default:
		t.Alias = text
	}
}

// unseen reports whether a character makes a name look like another one.
func unseen(r rune) bool { return r != ' ' && !unicode.IsPrint(r) || isControl(r) }

func (p *parser) parseRenamedFrom(n *node, t *Tool) {
	t.RenamedFrom = p.filled(n, "renamed_from", lowerName)
}

// checkCalled refuses names under which two tools would be called.
func (p *parser) checkCalled(tools []*Tool) {
	takenBy := make(map[string]string, len(tools))
	for _, t := range tools {
		takenBy[t.Name] = "tool " + quote(t.Name)
	}
	take := func(t *Tool, key, name string) {
		if name == "" {
			return
		}
		if other, taken := takenBy[name]; taken {
			p.report(t.Keys[key], "choose another one", "%s: %s is already that of %s", key, quote(name), other)
			return
		}
		takenBy[name] = "tool " + quote(t.Name) + " (" + key + ")"
	}
	for _, t := range tools {
		take(t, "alias", t.Alias)
		for _, old := range t.RenamedFrom {
			take(t, "renamed_from", old)
		}
	}
}
