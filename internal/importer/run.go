package importer

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/gen"
	"github.com/ambit-tools/ambit/internal/importer/normalize"
	"github.com/ambit-tools/ambit/internal/importer/write"
	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// run is one import.
type run struct {
	Options
	over *write.Existing
	// declared is what over says; nil without it.
	declared *dsl.File
	tools    []write.Tool
	of       []sourceTool // of tools, by index
	result   *Result
}

// nameOf is the name of a tool in the declaration. One that has the tool already, under
// its alias or its name, keeps its own.
func (r *run) nameOf(t sourceTool) string {
	name := Name(t.name)
	if r.over == nil {
		return name
	}
	names := r.over.Names()
	for _, n := range names {
		if r.over.Alias(n) == t.name {
			return n
		}
	}
	if slices.Contains(names, t.name) && r.over.Alias(t.name) == "" {
		return t.name
	}
	return name
}

// holder is the tool of the declaration that calls and code know by a name of a new one; empty:
// there is none.
func (r *run) holder(name, alias string) string {
	if r.declared == nil {
		return ""
	}
	for _, d := range r.declared.Tools {
		known := append([]string{d.Name, d.Alias}, d.RenamedFrom...)
		if dsl.GoName(d.Name) == dsl.GoName(name) || slices.Contains(known, name) || slices.Contains(known, alias) {
			return d.Name
		}
	}
	return ""
}

// leave leaves a tool out.
func (r *run) leave(t sourceTool, at *jsonschema.Value, reason, hint string) {
	at = cmp.Or(at, t.at)
	r.result.Left = append(r.result.Left, Left{Tool: t.name, Pointer: at.Pointer, Reason: reason, Hint: hint, Pos: at.Pos})
}

func (r *run) note(t sourceTool, at *jsonschema.Value, kind normalize.Kind, format string, args ...any) {
	r.result.Changes = append(r.result.Changes, Change{Tool: t.name, Pointer: at.Pointer, Kind: kind, Text: fmt.Sprintf(format, args...), Pos: at.Pos})
}

// tool reads one tool, or leaves it out.
func (r *run) tool(t sourceTool) {
	u := write.Tool{Name: r.nameOf(t), At: t.at, Effect: effect(t.at, r.TrustHints), Hints: claims(t.at)}
	exists := false
	if r.over != nil && slices.Contains(r.over.Names(), u.Name) {
		if alias := r.over.Alias(u.Name); alias != "" && alias != t.name {
			r.leave(t, t.at.Get("name"), fmt.Sprintf("the declaration has another tool %s, with the alias %q", u.Name, alias), "rename that tool")
			return
		}
		if !r.over.Editable(u.Name) {
			r.leave(t, nil, fmt.Sprintf("tool %s of the declaration stands in braces, where the import edits nothing", u.Name), "write its keys in lines of their own")
			return
		}
		exists = true
	} else if other := r.holder(u.Name, t.name); other != "" {
		r.leave(t, t.at.Get("name"), fmt.Sprintf("it becomes %s, and tool %s of the declaration has a name that is the same", u.Name, other), "rename one of them")
		return
	} else if u.Name != t.name {
		u.Alias = t.name
		r.note(t, t.at.Get("name"), Named, "%q became %s, with the alias", t.name, u.Name)
	}
	before := len(r.result.Changes)
	for _, name := range []string{"inputSchema", "outputSchema"} {
		if at, reason, hint := unwritable(t.at.Get(name), ""); at != nil {
			r.leave(t, at, reason, hint)
			return
		}
	}
	if support := t.at.Get("execution").Get("taskSupport"); support.IsText("required") {
		r.leave(t, support, "execution.taskSupport is required: the tool can only be called as a task, which a handler does not do", "have the server allow calls without a task (taskSupport: optional), or leave the tool out of the list")
		return
	}
	u.Input = t.input.Clone()
	if !r.schema(t, u.Input, normalize.Options{Open: r.Open, Arguments: true}) {
		r.result.Changes = r.result.Changes[:before]
		return
	}
	r.texts(t, &u)
	var ok bool
	if u.Output, ok = r.output(t); !ok {
		r.result.Changes = r.result.Changes[:before]
		return
	}
	if u.Output == nil && !exists {
		u.Output = anyObject(t.at)
		r.note(t, t.at, Output, "the source says nothing about the output: any members")
	}
	if exists && !r.keep(t, &u) {
		r.result.Changes = r.result.Changes[:before]
		return
	}
	r.tools = append(r.tools, u)
	r.of = append(r.of, t)
}

// keep takes over what people wrote in the tool, or leaves it out where what is secret would be
// so no longer.
func (r *run) keep(t sourceTool, u *write.Tool) bool {
	kept := r.over.Keep(u)
	if len(kept.Lost) > 0 {
		r.leave(t, t.at, fmt.Sprintf("x-sensitive in line %d of the declaration has no place in the new schema", kept.Lost[0]),
			"mark the value where the source has it now, or remove the mark, and import again")
		return false
	}
	for _, line := range kept.Gone {
		r.note(t, t.at, Unmarked, "x-sensitive in line %d of the declaration is gone: the source has no such member", line)
	}
	r.result.Changes = slices.DeleteFunc(r.result.Changes, func(c Change) bool {
		return c.Tool == t.name && c.Kind == normalize.DescriptionFilled && slices.Contains(kept.Descriptions, c.Pointer)
	})
	return true
}

func anyObject(at *jsonschema.Value) *jsonschema.Value {
	v := jsonschema.NewObject(at)
	v.Set("type", jsonschema.NewString("object", at))
	v.Set("additionalProperties", jsonschema.NewBool(true, at))
	return v
}

// schema writes a schema as a declaration takes it, or leaves the tool out.
func (r *run) schema(t sourceTool, s *jsonschema.Value, o normalize.Options) bool {
	changes, fault := normalize.Schema(s, o)
	if fault != nil {
		r.leave(t, fault.At, fault.Message, fault.Hint)
		return false
	}
	for _, c := range changes {
		if c.Kind == normalize.Sensitive && r.TrustHints {
			continue
		}
		r.result.Changes = append(r.result.Changes, Change{Tool: t.name, Pointer: c.At.Pointer, Kind: c.Kind, Text: c.Text, Narrows: c.Narrows, Pos: c.At.Pos})
	}
	return true
}

// unwritable finds what a declaration cannot hold as the source has it: a name that is too long for a key, or half of a
// surrogate pair but in what is for people. key is the name of the member that v is.
func unwritable(v *jsonschema.Value, key string) (at *jsonschema.Value, reason, hint string) {
	if v == nil {
		return nil, "", ""
	}
	if v.Broken && !(v.Is(jsonschema.String) && slices.Contains([]string{"title", "description", "$comment"}, key)) {
		return v, "a text has half of a surrogate pair, which is no character", "write the whole character"
	}
	for _, item := range v.Items {
		if at, reason, hint := unwritable(item, ""); at != nil {
			return at, reason, hint
		}
	}
	for _, m := range v.Members {
		if n := write.KeyLength(m.Name); n > write.MaxKey {
			return v, fmt.Sprintf("the name %q has %d characters as a key, and a key of YAML at most %d", shortened(m.Name), n, write.MaxKey), "shorten it in the source"
		}
		if at, reason, hint := unwritable(m.Value, m.Name); at != nil {
			return at, reason, hint
		}
	}
	return nil, "", ""
}

// texts reads title and description.
func (r *run) texts(t sourceTool, u *write.Tool) {
	for _, at := range []*jsonschema.Value{t.at.Get("title"), t.at.Get("annotations").Get("title")} {
		if u.Title == "" && at.Is(jsonschema.String) {
			u.Title = strings.ReplaceAll(normalize.Clean(at.Text), "\n", " ")
		}
	}
	d := t.at.Get("description")
	if d.Is(jsonschema.String) {
		if u.Description = normalize.Clean(d.Text); u.Description != strings.TrimSpace(d.Text) {
			r.note(t, d, normalize.TextCleaned, "control characters removed from description")
		}
	}
	for _, name := range []string{"title", "description"} {
		switch at := t.at.Get(name); {
		case at == nil || at.Is(jsonschema.Null):
		case !at.Is(jsonschema.String):
			r.note(t, at, normalize.KeywordDropped, "%s removed: it is no text", name)
		case at.Broken:
			r.note(t, at, normalize.TextCleaned, "half of a surrogate pair became U+FFFD in %s", name)
		}
	}
	if u.Description == "" {
		u.Description, u.Filled = cmp.Or(u.Title, strings.ReplaceAll(u.Name, "_", " ")), true
		r.note(t, t.at, normalize.DescriptionFilled, "the tool has no description: %q filled in", u.Description)
	}
	for _, m := range extra(t.at) {
		r.note(t, m.Value, Member, "%q has no place in a declaration", shortened(m.Name))
	}
}

// check reads the declaration as every command does, and generates its code in memory.
// Annotations that it refuses are dropped, and tools that it refuses are left out, until
// it refuses nothing.
func (r *run) check() error {
	for len(r.tools) > 0 {
		text := r.text(r.tools)
		src := text.Bytes()
		if len(src) > maxSource {
			r.leaveLarge()
			r.leaveRest()
			continue
		}
		err := parse(r.Path, src)
		if err == nil {
			r.result.Text = src
			return nil
		}
		found, ok := errors.AsType[dsl.Diagnostics](err)
		if !ok || !r.heed(text, found) {
			return err
		}
	}
	return nil
}

func parse(path string, src []byte) error {
	file, err := dsl.Parse(path, src, dsl.WithPatterns(gen.PatternFault))
	if err != nil {
		return err
	}
	_, err = gen.Generate(file, gen.Options{})
	return err
}

func (r *run) text(tools []write.Tool) *write.Text {
	if r.over != nil {
		return r.over.Over(tools)
	}
	return write.Declaration(r.Package, tools)
}

// dropped are the keywords without which a schema takes the same values.
var dropped = map[string]normalize.Kind{
	"default": normalize.DefaultDropped, "examples": normalize.ExamplesChanged, "format": normalize.FormatDropped,
}

// heed drops what the diagnostics of a declaration refuse, and reports whether there was
// anything to drop.
func (r *run) heed(text *write.Text, found dsl.Diagnostics) bool {
	out := map[int]bool{}
	progress := false
	for _, d := range found {
		p := text.Place(d.Pos.Line)
		if p.Tool < 0 {
			continue
		}
		progress = true
		t := r.of[p.Tool]
		if kind, ok := dropped[p.Key]; ok && p.Schema != nil {
			if p.Schema.Has(p.Key) {
				p.Schema.Delete(p.Key)
				r.note(t, p.At, kind, "%s removed: %s", p.Key, d.Message)
			}
			continue
		}
		if !out[p.Tool] {
			out[p.Tool] = true
			r.leave(t, p.At, ofSource(text, d.Message), d.Hint)
		}
	}
	r.drop(out)
	return progress
}

// otherLine is how a diagnostic names another line of a declaration.
var otherLine = regexp.MustCompile(` (in|on) line ([0-9]+)( too)?$`)

// ofSource returns a message about a declaration that is not written with the place in the source for the other line that
// it names.
func ofSource(text *write.Text, message string) string {
	m := otherLine.FindStringSubmatch(message)
	if m == nil {
		return message
	}
	before := strings.TrimSuffix(message, m[0])
	line, _ := strconv.Atoi(m[2]) // out of range: no line of the text
	at := text.Place(line).At
	if at == nil {
		return before + " elsewhere" + m[3]
	}
	return fmt.Sprintf("%s at %s in line %d, column %d, of the source%s", before, at.Pointer, at.Pos.Line, at.Pos.Col, m[3])
}

// finish puts the result in order, without the changes of tools that are left out.
func (r *run) finish() {
	kept := map[string]bool{}
	for i := range r.tools {
		kept[r.of[i].name] = true
		r.result.Tools = append(r.result.Tools, r.tools[i].Name)
	}
	if r.over != nil {
		listed := slices.Clone(r.result.Tools)
		for _, l := range r.result.Left {
			listed = append(listed, r.nameOf(sourceTool{name: l.Tool}))
		}
		for _, name := range r.over.Names() {
			if !slices.Contains(listed, name) {
				r.result.Stay = append(r.result.Stay, name)
			}
		}
	}
	if len(r.tools) == 0 {
		r.result.Text = nil
	}
	r.result.Changes = slices.DeleteFunc(r.result.Changes, func(c Change) bool { return !kept[c.Tool] })
	slices.SortStableFunc(r.result.Changes, func(a, b Change) int { return before(a.Pos, b.Pos) })
	slices.SortStableFunc(r.result.Left, func(a, b Left) int { return before(a.Pos, b.Pos) })
}

func before(a, b jsonschema.Pos) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
}
