// Package evolution says what a change of a declaration breaks, and for whom.
package evolution

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/internal/evolution/inclusion"
)

// Who is concerned by a change.
const (
	Callers   = "callers"   // models and programs that call the tool
	Handlers  = "handlers"  // the application's code
	Policies  = "policies"  // Rego that names the tool or its members
	Approvals = "approvals" // requests that wait for an answer, and grants
	Undo      = "undo"      // earlier calls that may still be undone
	Journals  = "journals"  // recorded calls, for replay
)

// A Break is one change that breaks something.
type Break struct {
	Tool string  // its name in the old declaration
	Pos  dsl.Pos // in the new declaration
	For  []string
	Text string
	Hint string
	// Allowed: the versions of the tool announce the change.
	Allowed bool
}

// Compare returns what is broken for those who know the old declaration, in the order of
// the new one; removed tools come last.
func Compare(old, now *dsl.File) []Break {
	c := &comparison{now: now, oldSide: inclusion.Of(old), nowSide: inclusion.Of(now)}
	reached := map[string]bool{}
	for _, t := range now.Tools {
		was := find(old, t)
		if was == nil {
			continue
		}
		reached[was.Name] = true
		c.tool(was, t)
	}
	for _, t := range old.Tools {
		if !reached[t.Name] {
			c.removed(t)
		}
	}
	c.setRules(old)
	c.reasons(old)
	return c.breaks
}

// named returns the tool that a call may name so, nil when there is none.
func (c *comparison) named(name string) *dsl.Tool {
	i := slices.IndexFunc(c.now.Tools, func(t *dsl.Tool) bool {
		return t.Name == name || t.Alias == name || slices.Contains(t.RenamedFrom, name)
	})
	if i < 0 {
		return nil
	}
	return c.now.Tools[i]
}

// firstName is the name of which the idempotency keys of t are made.
func firstName(t *dsl.Tool) string {
	if len(t.RenamedFrom) > 0 {
		return t.RenamedFrom[0]
	}
	return t.Name
}

// find is the tool of old that t was.
func find(old *dsl.File, t *dsl.Tool) *dsl.Tool {
	for _, names := range [][]string{{t.Name}, t.RenamedFrom} {
		for _, was := range old.Tools {
			if slices.Contains(names, was.Name) {
				return was
			}
		}
	}
	return nil
}

type comparison struct {
	now              *dsl.File
	oldSide, nowSide *inclusion.Side
	breaks           []Break
}

// tool compares one tool. A breaking change is allowed where the first number of the
// version grows; below 1.0.0 the second number does.
func (c *comparison) tool(was, t *dsl.Tool) {
	from := len(c.breaks)
	add := func(pos dsl.Pos, whom []string, format string, args ...any) {
		c.breaks = append(c.breaks, Break{Tool: was.Name, Pos: pos, For: whom, Text: fmt.Sprintf(format, args...)})
	}
	key := func(name string) dsl.Pos {
		if p, ok := t.Keys[name]; ok {
			return p
		}
		return t.Pos
	}
	if was.Name != t.Name {
		add(key("renamed_from"), []string{Policies, Handlers}, "tool %q is now %q: policies of its package and the method of its handler have another name", was.Name, t.Name)
	}
	for _, name := range append([]string{was.Alias}, was.RenamedFrom...) {
		switch {
		case name == "" || c.named(name) != nil:
		case name == was.Alias:
			add(key("alias"), []string{Callers}, "the alias %q names no tool any more", name)
		default:
			add(key("renamed_from"), []string{Callers}, "the earlier name %q names no tool any more", name)
		}
	}
	c.recorded(was, t, add, key)
	for _, d := range c.differences(was.Input, t.Input) {
		var whom []string
		if d.narrows {
			whom = append(whom, Callers, Approvals, Journals)
		}
		if d.gone || d.code {
			whom = append(whom, Handlers)
		}
		if d.gone || d.absent {
			whom = append(whom, Policies)
		}
		if whom != nil {
			add(d.at(key("input")), whom, "input: %s", d.text)
		}
	}
	for _, d := range c.differences(was.Output, t.Output) {
		if d.widens {
			add(d.at(key("output")), []string{Callers}, "output: %s", d.text)
		}
		switch {
		case d.narrows:
			add(d.at(key("output")), []string{Handlers, Undo}, "output: %s", d.text)
		case d.gone || d.code:
			add(d.at(key("output")), []string{Handlers}, "output: %s", d.text)
		}
	}
	c.undo(was, t, add, key)
	command(was, t, add, key)
	keys(was, t, func(name string, whom []string, format string, args ...any) { add(key(name), whom, format, args...) })
	for i := range c.breaks[from:] {
		b := &c.breaks[from+i]
		b.Allowed = newMajor(was.Version, t.Version)
		b.Hint = cmp.Or(b.Hint, fmt.Sprintf("raise version to %s, or take the change back", nextMajor(was.Version)))
	}
}

// recorded judges what becomes of the calls that are recorded under the names of a tool.
func (c *comparison) recorded(was, t *dsl.Tool, add func(dsl.Pos, []string, string, ...any), key func(string) dsl.Pos) {
	hint := func(format string, args ...any) { c.breaks[len(c.breaks)-1].Hint = fmt.Sprintf(format, args...) }
	if first := firstName(was); first != firstName(t) && (was.Idempotency != nil || was.Dedupe.Mode != "never" && was.Dedupe.Mode != "") {
		add(key("renamed_from"), []string{Callers}, "the first name was %q and is %q: keys are made of it, so that an effect of an earlier call may be made again", first, firstName(t))
		hint("begin renamed_from with %q, or raise version to %s", first, nextMajor(was.Version))
	}
	for _, name := range append([]string{was.Name}, was.RenamedFrom...) {
		if o := c.named(name); o != nil && o != t {
			add(o.Pos, []string{Callers, Undo, Journals}, "%q was a name of tool %q and is one of %q: calls that are recorded under it count for the other tool now", name, was.Name, o.Name)
			hint("choose another name for the other tool, or raise the version of %q to %s", t.Name, nextMajor(was.Version))
		}
	}
}

func (c *comparison) undo(was, t *dsl.Tool, add func(dsl.Pos, []string, string, ...any), key func(string) dsl.Pos) {
	switch {
	case was.Undo == nil:
	case t.Undo == nil:
		add(t.Pos, []string{Undo}, "earlier calls cannot be undone any more")
	default:
		for _, d := range c.differences(was.Undo.State, t.Undo.State) {
			var whom []string
			if d.narrows {
				whom = append(whom, Undo)
			}
			if d.gone || d.code {
				whom = append(whom, Handlers)
			}
			if whom != nil {
				add(d.at(key("undo")), whom, "undo.state: %s", d.text)
			}
		}
	}
}

// removed judges a tool that is not there any more.
func (c *comparison) removed(t *dsl.Tool) {
	b := Break{Tool: t.Name, Pos: dsl.Pos{File: c.now.Path, Line: 1, Col: 1}, For: []string{Callers, Handlers, Policies, Approvals, Undo, Journals}}
	if c.now.ToolsPos != (dsl.Pos{}) { // no tool that is there has to do with it
		b.Pos = c.now.ToolsPos
	}
	switch d, o := t.Deprecated, c.named(t.Name); {
	case o != nil:
		b.Pos = o.Pos
		b.Text = fmt.Sprintf("tool %q is removed, and is a name of tool %q: calls that are recorded under it count for that tool now", t.Name, o.Name)
		b.Hint, b.Allowed = fmt.Sprintf("choose another name, or raise the version of %q to %s", o.Name, nextMajor(t.Version)), newMajor(t.Version, o.Version)
	case d == nil:
		b.Text = fmt.Sprintf("tool %q is removed, and was not deprecated", t.Name)
		b.Hint = "declare it deprecated for two minor versions first, or name it in renamed_from of the tool that takes its place"
	case !twoMinors(d.Since, t.Version):
		b.Text = fmt.Sprintf("tool %q is removed at version %s, and is deprecated since %s", t.Name, t.Version, d.Since)
		b.Hint = "remove it two minor versions after deprecated.since"
	case d.RemoveIn != "" && major(d.RemoveIn) > major(t.Version)+1:
		b.Text = fmt.Sprintf("tool %q is removed at version %s, and deprecated.remove_in names %s", t.Name, t.Version, d.RemoveIn)
		b.Hint = fmt.Sprintf("remove it once its version is %d.0.0 or later", major(d.RemoveIn)-1)
	default:
		b.Text, b.Allowed = fmt.Sprintf("tool %q is removed, which was deprecated since %s", t.Name, d.Since), true
	}
	c.breaks = append(c.breaks, b)
}

// reasons finds the denial codes that policies may not use any more.
func (c *comparison) reasons(old *dsl.File) {
	for _, r := range old.Reasons {
		if !slices.ContainsFunc(c.now.Reasons, func(n *dsl.Reason) bool { return n.Code == r.Code }) {
			c.breaks = append(c.breaks, Break{Pos: c.now.PackagePos, For: []string{Policies, Callers},
				Text: fmt.Sprintf("the reason %q is removed", r.Code), Hint: "keep it until no policy uses it"})
		}
	}
}

func rank(effect string) int { return slices.Index([]string{"read", "write", "destructive"}, effect) }

// numbers are the first two of a version.
func numbers(version string) (major, minor int) {
	parts := strings.SplitN(version, ".", 3)
	major, _ = strconv.Atoi(parts[0])
	if len(parts) > 1 {
		minor, _ = strconv.Atoi(parts[1])
	}
	return major, minor
}

func major(version string) int {
	n, _ := numbers(version)
	return n
}

// lower reports whether a version comes before another, by their three numbers.
func lower(version, than string) bool {
	parts := func(version string) []int {
		version, _, _ = strings.Cut(version, "+")
		version, _, _ = strings.Cut(version, "-")
		var all []int
		for _, part := range strings.Split(version, ".") {
			n, _ := strconv.Atoi(part)
			all = append(all, n)
		}
		return all
	}
	return slices.Compare(parts(version), parts(than)) < 0
}

func newMajor(was, now string) bool {
	a, x := numbers(was)
	b, y := numbers(now)
	return b > a || a == 0 && b == 0 && y > x
}

func nextMajor(version string) string {
	major, minor := numbers(version)
	if major == 0 {
		return fmt.Sprintf("0.%d.0", minor+1)
	}
	return fmt.Sprintf("%d.0.0", major+1)
}

func twoMinors(since, version string) bool {
	a, x := numbers(since)
	b, y := numbers(version)
	return b > a || b == a && y >= x+2
}
