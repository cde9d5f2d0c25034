package dsl

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/ambit-tools/ambit/dsl/yamldoc"
)

const (
	maxSource  = 1 << 20  // bytes of a declaration file
	maxCounted = 64 << 20 // above it no exact size is reported: a caller may stop reading
	maxDepth   = 256      // nested lists and mappings
)

// load reads the one document of a file. It returns nil when there is nothing to walk.
func (p *parser) load(src []byte) *node {
	text := strings.TrimPrefix(string(src), "\ufeff")
	if len(src) > maxSource {
		first, _, _ := strings.Cut(text[:1024], "\n")
		p.src = newSource(p.src.path, strings.ToValidUTF8(first, "\ufffd"))
		message := fmt.Sprintf("the file has %d bytes, more than the limit of %d", len(src), maxSource)
		if len(src) > maxCounted {
			message = fmt.Sprintf("the file has more than 64 MiB; the limit is %d bytes", maxSource)
		}
		p.report(Pos{}, "split it: one file per package of tools", "%s", message)
		return nil
	}
	p.src = newSource(p.src.path, strings.ToValidUTF8(text, "\ufffd"))
	text, ok := p.readable(text)
	if !ok {
		return nil
	}
	doc, second, err := yamldoc.Decode([]byte(text))
	switch {
	case err != nil:
		p.syntaxError(text, err)
		return nil
	case doc == nil || len(doc.Content) == 0:
		p.report(Pos{}, `start with "ambit: v1"`, "the file is empty")
		return nil
	case second != nil:
		p.report(Pos{Line: second.Line, Col: second.Column}, "put it into a file of its own",
			"a second document starts here, a declaration file has one")
	}
	return p.convert(doc.Content[0], 1, ofKeys)
}

// readable refuses what the YAML reader would refuse without saying where. Control
// characters are replaced, so that they hide no other fault; a text that is not
// UTF-8 is not read on.
func (p *parser) readable(text string) (string, bool) {
	line, col, found := 1, 0, 0
	for i, r := range text {
		col++
		pos := Pos{Line: line, Col: col}
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				p.report(pos, "save the file as UTF-8", "byte 0x%02x is not valid UTF-8", text[i])
				return "", false
			}
		}
		if unreadable(r) {
			p.report(pos, fmt.Sprintf("remove it, or write it as \"\\u%04x\" in a double-quoted string", r),
				"control character %U", r)
			if found++; found == maxUnreadable {
				return "", false
			}
		}
		if r == '\n' || r == 0x85 || r == 0x2028 || r == 0x2029 || r == '\r' && !strings.HasPrefix(text[i+1:], "\n") {
			line, col = line+1, 0
		}
	}
	return strings.Map(func(r rune) rune {
		if unreadable(r) {
			return utf8.RuneError
		}
		return r
	}, text), true
}

// maxUnreadable is how many control characters a text may have before it is taken
// for something else than a text.
const maxUnreadable = 100

// unreadable reports whether the YAML reader refuses r wherever it stands.
func unreadable(r rune) bool {
	return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0x7f || r >= 0x80 && r < 0xa0 && r != 0x85 || r == 0xfffe || r == 0xffff
}

var unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced`)

// unknownAlias finds an alias that the YAML reader refused without a place.
func (p *parser) unknownAlias(name string) {
	for i, line := range p.src.lines {
		if before, _, ok := strings.Cut(line, "*"+name); ok {
			p.alias(Pos{Line: i + 1, Col: utf8.RuneCountInString(before) + 1}, name)
			return
		}
	}
	p.alias(Pos{}, name)
}

// alias refuses an alias.
func (p *parser) alias(pos Pos, name string) {
	p.report(pos, `write the value out, or declare a schema under types and use $ref: "#/types/NAME"`, "alias %s is not allowed", quote("*"+name))
}

// syntaxError reports an error of the YAML reader, which names a line at most.
func (p *parser) syntaxError(text string, err error) {
	at, what := yamldoc.FaultIn([]byte(text), err)
	pos := Pos{Line: max(at, 1), Col: 1}
	if alias := unknownAnchor.FindStringSubmatch(what); alias != nil {
		p.unknownAlias(alias[1])
		return
	}
	pos.Line = min(pos.Line, len(p.src.lines))
	line := p.src.lines[pos.Line-1]
	pos.Col += len(line) - len(strings.TrimLeft(line, " "))
	hint := "look at this line and the ones beside it"
	switch mark := question(p.src.lines[pos.Line-1:]); {
	case what == "did not find expected key", what == "did not find expected '-' indicator":
		hint = "indent it as far as those beside it"
	case strings.HasPrefix(what, "did not find expected ','") && mark.Line > 0:
		hint = `quote a text that contains "?" inside of {} or []`
		pos.Line, pos.Col = pos.Line+mark.Line-1, mark.Col
	case strings.Contains(what, "mapping values are not allowed"):
		hint = `indent the line as far as those beside it, or quote a text that contains ": "`
	case strings.Contains(what, "cannot start any token") && strings.Contains(line, "\t"):
		hint = "indent with spaces"
	case strings.Contains(what, "found a tab character"):
		hint = "indent with spaces"
		pos = p.indentedByTab(pos)
	}
	p.report(pos, hint, "not valid YAML: %s", what)
}

// question returns the place of a question mark in a text without quotes, inside of the {} or [] that begin in the first of lines, and
// behind other characters of it; the zero value for none. The first line is line 1.
func question(lines []string) Pos {
	var quoted rune
	escaped, depth, behind := false, 0, ' ' // behind is the last character that is no blank
	for i, line := range lines {
		before := ' '
		for col, r := range []rune(line) {
			switch {
			case quoted != 0:
				if r == quoted && !escaped {
					quoted = 0
				}
				escaped = quoted == '"' && r == '\\' && !escaped
			case (r == '"' || r == '\'') && strings.ContainsRune(" ,:{[", before):
				quoted = r
			case r == '#' && before == ' ':
				line = "" // the rest is a comment
			case r == '?' && depth > 0 && !strings.ContainsRune("{[,", behind):
				return Pos{Line: i + 1, Col: col + 1}
			case r == '{' || r == '[':
				depth++
			case r == '}' || r == ']':
				depth--
			}
			if line == "" {
				break
			}
			if before = r; r != ' ' && r != '\t' {
				behind = r
			}
		}
		if depth <= 0 && quoted == 0 {
			return Pos{}
		}
	}
	return Pos{}
}

// indentedByTab finds the tab that the YAML reader met in the indentation of a
// line at or after pos, where it began to read.
func (p *parser) indentedByTab(pos Pos) Pos {
	for i, line := range p.src.lines[pos.Line-1:] {
		indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		if before, _, ok := strings.Cut(indent, "\t"); ok && len(indent) < len(line) {
			return Pos{Line: pos.Line + i, Col: len(before) + 1}
		}
	}
	return pos
}

// A role says what the names of a mapping are.
type role uint8

const (
	ofKeys    role = iota // keys of the declaration: two that differ by case are a slip
	ofMembers             // names of members, which are what they are; keys below them
	ofValue               // a value, with all that is below it
)

// below returns what the names are in the value of a key.
func (in role) below(key string) role {
	switch {
	case in == ofValue:
		return ofValue
	case in == ofMembers:
		return ofKeys
	}
	switch key {
	case "properties", "patternProperties", "dependentRequired", "dependentSchemas", "dependencies", "$defs":
		return ofMembers
	case "const", "enum", "default", "examples", "args":
		return ofValue
	}
	return ofKeys
}

// convert refuses aliases, anchors, tags and deep nesting, and resolves scalars.
func (p *parser) convert(y *yaml.Node, depth int, in role) *node {
	n := &node{pos: p.at(y)}
	if depth > maxDepth {
		p.report(n.pos, "declare a type and refer to it with $ref", "nested deeper than %d levels", maxDepth)
		return n
	}
	if y.Anchor != "" {
		p.report(n.pos, `declare a shared schema under types and use $ref: "#/types/NAME"`, "anchor %s is not allowed", quote("&"+y.Anchor))
	}
	if y.Style&yaml.TaggedStyle != 0 {
		p.report(n.pos, "remove the tag; quote the value when it is a text", "tag %s is not allowed", quote(y.Tag))
		return n
	}
	switch y.Kind {
	case yaml.AliasNode:
		p.alias(n.pos, y.Value)
	case yaml.SequenceNode:
		n.kind = nodeList
		for _, item := range y.Content {
			n.items = append(n.items, p.convert(item, depth+1, in))
		}
	case yaml.MappingNode:
		n.kind = nodeMap
		p.convertPairs(n, y.Content, depth, in)
	case yaml.ScalarNode:
		n.text = y.Value
		n.kind = nodeString
		if y.Style == 0 {
			n.kind = p.resolve(y.Value, n.pos)
		}
	}
	return n
}

// convertPairs fills a mapping and refuses keys that are not names or not unique.
func (p *parser) convertPairs(n *node, content []*yaml.Node, depth int, in role) {
	alike := fold
	if in != ofKeys {
		alike = func(name string) string { return name }
	}
	seen := make(map[string]pair, len(content)/2)
	for i := 0; i+1 < len(content); i += 2 {
		key := content[i]
		p.under = append(p.under, key.Value)
		entry := pair{name: key.Value, key: p.at(key), val: p.convert(content[i+1], depth+1, in.below(key.Value))}
		p.under = p.under[:len(p.under)-1]
		if !p.isName(key, entry.key) {
			continue
		}
		if first, ok := seen[alike(entry.name)]; ok {
			if first.name == entry.name {
				p.report(entry.key, "remove one of them", "duplicate key %s, first in line %d", quote(entry.name), first.key.Line)
				continue
			}
			p.report(entry.key, "rename one of them", "key %s differs only by case from %s in line %d",
				quote(entry.name), quote(first.name), first.key.Line)
			entry.twin = true // it is to be renamed, and what is below it stays
		} else {
			seen[alike(entry.name)] = entry
		}
		n.pairs = append(n.pairs, entry)
	}
}

// isName reports whether a key is a plain text.
func (p *parser) isName(key *yaml.Node, pos Pos) bool {
	switch {
	case key.Kind == yaml.AliasNode, key.Anchor != "":
		p.report(pos, "write the key out", "anchors and aliases are not allowed")
		return false
	case key.Kind != yaml.ScalarNode:
		p.report(pos, "write a name before the colon", "a key must be a text")
		return false
	case key.Style&yaml.TaggedStyle != 0:
		p.report(pos, "remove the tag", "tag %s is not allowed", quote(key.Tag))
		return false
	case key.Style == 0 && key.Value == "<<":
		p.report(pos, `write the keys out, or declare a schema under types and use $ref: "#/types/NAME"`, "merge key %s is not allowed", quote("<<"))
		return false
	case key.Style == 0 && scalarKind(key.Value) == nodeNumber && p.isExits():
	case key.Style == 0 && scalarKind(key.Value) != nodeString:
		p.report(pos, "quote it: "+strconv.Quote(key.Value), "key %s is not a text", key.Value)
		return false
	}
	return true
}

// isExits says whether the mapping that is read is tools.NAME.command.exits, whose keys are numbers.
func (p *parser) isExits() bool {
	return len(p.under) == 4 && p.under[0] == "tools" && p.under[2] == "command" && p.under[3] == "exits"
}

func (p *parser) at(y *yaml.Node) Pos {
	return Pos{File: p.src.path, Line: y.Line, Col: y.Column}
}
