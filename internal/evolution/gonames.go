package evolution

import (
	"fmt"
	"strings"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
)

// InGo returns what has another name in Go than before: code that says the earlier one does not compile, or means
// something else that has this name now. Was and is are the places of the two declarations.
func InGo(old, now *dsl.File, was, is []gen.Place) []Break {
	type place struct{ tool, at, what string }
	before := map[place]string{}
	for _, p := range was {
		before[place{p.Tool, p.At, p.What}] = p.GoName
	}
	tools := map[string]*dsl.Tool{}
	for _, t := range now.Tools {
		tools[t.Name] = t
	}
	var breaks []Break
	for _, p := range is {
		b := Break{Pos: p.Pos, For: []string{Handlers}, Hint: "rename what is new, so that the two do not share a name in Go"}
		if p.Pos.Line == 0 {
			b.Pos = now.PackagePos
		}
		name := p.GoName
		if t := tools[p.Tool]; t != nil {
			earlier := find(old, t)
			if earlier == nil {
				continue
			}
			b.Tool, b.Allowed = earlier.Name, newMajor(earlier.Version, t.Version)
			if rest, ok := strings.CutPrefix(name, dsl.GoName(t.Name)); ok && p.What != "member" {
				name = dsl.GoName(earlier.Name) + rest // that the tool has another name is said of it
			}
		}
		if former, known := before[place{b.Tool, p.At, p.What}]; known && former != name {
			verb := "was"
			if p.What == "members that are not declared" {
				verb = "were"
			}
			b.Text = fmt.Sprintf("%s: the %s %s %s in Go and %s %s", p.At, p.What, verb, former, map[string]string{"was": "is", "were": "are"}[verb], p.GoName)
			breaks = append(breaks, b)
		}
	}
	return breaks
}
