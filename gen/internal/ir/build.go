package ir

import (
	"fmt"
	"go/token"
	"path"
	"regexp"
	"strings"

	"github.com/ambit-tools/ambit/dsl"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// Build decides everything about the Go code of f. The error is a
// [dsl.Diagnostics] with all that stands against it.
func Build(f *dsl.File) (*Package, error) {
	b := newBuilder(f)
	b.build()
	if err := b.errs.Err(); err != nil {
		return nil, err
	}
	b.pkg.file, b.pkg.named = f, b.named
	return b.pkg, nil
}

func newBuilder(f *dsl.File) *builder {
	return &builder{
		file:     f,
		pkg:      &Package{Name: f.Package, Source: path.Base(strings.ReplaceAll(f.Path, `\`, "/"))},
		scope:    newPackageScope(),
		methods:  newMethodScope(),
		named:    map[*dsl.NamedSchema]*Type{},
		names:    map[*dsl.NamedSchema]string{},
		given:    map[string]bool{},
		nevers:   map[*wire.Schema]*conflict{},
		busy:     map[*dsl.NamedSchema]bool{},
		types:    map[string]*Type{},
		patterns: map[string]*Pattern{},
	}
}

func (b *builder) build() {
	top := dsl.Pos{File: b.file.Path, Line: 1, Col: 1}
	if !token.IsIdentifier(b.file.Package) || b.file.Package == "_" {
		b.errorf(top, "use a lower-case word", "package %q is not a Go package name", b.file.Package)
	}
	b.giveNames()
	for _, n := range b.file.Types {
		b.resolve(n)
	}
	for _, r := range b.file.Reasons {
		b.reason(r)
	}
	for _, t := range b.file.Tools {
		if t := b.tool(t); t != nil {
			b.pkg.Tools = append(b.pkg.Tools, t)
		}
	}
	for _, fix := range b.fixups {
		fix()
	}
	b.breakCycles()
	b.assignHelpers()
	if len(b.errs) > 0 {
		return // schemas, defaults and arguments are judged by complete types only
	}
	b.checkLiterals()
	b.commands()
	b.publish()
	b.specs()
}

// giveNames notes the names in Go that types, reasons and tools have of their own.
func (b *builder) giveNames() {
	for _, n := range b.file.Types {
		b.names[n] = dsl.GoName(n.Name)
		s := n.Schema
		if s.OrNull != nil {
			s = s.OrNull
		}
		switch b.kind(s) {
		case KindStruct, KindTuple, KindUnion, KindEnum, KindIntEnum:
			b.given[b.names[n]] = true
		}
	}
	for _, r := range b.file.Reasons {
		b.given["Reason"+dsl.GoName(r.Code)] = true
	}
	for _, t := range b.file.Tools {
		for _, part := range []string{"Name", "Input", "Output", "Undo"} {
			b.given[dsl.GoName(t.Name)+part] = true
		}
	}
}

func (b *builder) reason(r *dsl.Reason) {
	name := "Reason" + dsl.GoName(r.Code)
	b.declare(b.scope, name, fmt.Sprintf("reason %q", r.Code), r.Pos)
	b.pkg.Reasons = append(b.pkg.Reasons, &Reason{
		GoName: name,
		Code:   r.Code,
		Doc:    Doc{Text: []string{name + " is a denial by a policy: " + sentence(r.Description)}},
	})
}

// toolName is what the declaration language allows: valid for every model
// provider, for MCP, and as a part of a file name.
var toolName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

func (b *builder) tool(d *dsl.Tool) *Tool {
	if d.Name == "ambit" || d.Name == "policies" {
		b.errorf(d.Pos, "call it something else", "the tool name %q is taken: a file of policy/ambit_gen has it", d.Name)
	}
	what := fmt.Sprintf("tool %q", d.Name)
	if !toolName.MatchString(d.Name) {
		b.errorf(d.Pos, "use [a-z][a-z0-9_]{0,63}", "%s is not a tool name", what)
		return nil
	}
	t := &Tool{Decl: d, GoName: dsl.GoName(d.Name)}
	t.Const = b.declare(b.scope, t.GoName+"Name", what, d.Pos)
	t.SpecVar = b.scope.unique(lower(t.GoName) + "Spec")
	if d.Command == nil {
		b.declare(b.methods, t.GoName, what, d.Pos)
	}
	t.Doc = Doc{Text: []string{methodDoc(t.GoName, d)}, Deprecated: deprecation(d)}
	if d.Transactional {
		t.Doc.Text = append(t.Doc.Text, "All its effects go through participants ([runtime.PartOf]): when it is interrupted they are rolled back, and the call failed.")
	}

	root := func(s *dsl.Schema, part, doc string) *Type {
		return b.root(s, t.GoName+part, fmt.Sprintf("%s the %s tool", doc, d.Name), d)
	}
	t.Input = root(d.Input, "Input", "the input of")
	t.Output = root(d.Output, "Output", "the output of")
	b.embed(t, "Input", "input")
	b.embed(t, "Output", "output")
	if d.Undo != nil {
		t.State = root(d.Undo.State, "Undo", "what is remembered to undo")
		b.embed(t, "Undo", "undo")
	}
	b.hooks(t)
	return t
}

func (b *builder) embed(t *Tool, part, file string) {
	t.Embeds = append(t.Embeds, &Embed{
		Var:  b.scope.unique(lower(t.GoName) + part + "Schema"),
		File: "schemas/" + t.Decl.Name + "." + file + ".json",
	})
}

// hooks adds the further methods that the declaration asks for.
func (b *builder) hooks(t *Tool) {
	d := t.Decl
	add := func(kind HookKind, prefix, key, doc string) {
		name := prefix + t.GoName
		b.declare(b.methods, name, fmt.Sprintf("%s of tool %q", key, d.Name), d.Pos)
		t.Hooks = append(t.Hooks, &Hook{GoName: name, Kind: kind, Doc: Doc{Text: []string{fmt.Sprintf(doc, name, t.GoName)}}})
	}
	if d.Consent != nil && d.Consent.Preview {
		add(HookPreview, "Preview", "the preview", "%s shows what %s would do. It only reads; its digest is part of what is approved.")
	}
	if d.Undo != nil {
		add(HookPrepare, "Prepare", "the preparation of undo",
			"%s returns what Undo%s will need. It has no effects of its own; its result is stored before the tool runs.")
		add(HookUndo, "Undo", "the undo",
			"%s reverses %s. It may run more than once. Output is nil when it is not known; runtime.ErrDrift refuses.")
	}
	if d.Reconcile {
		add(HookReconcile, "Reconcile", "the reconciliation",
			"%s finds out what an interrupted %s did, and returns its output when it took effect.")
	}
}
