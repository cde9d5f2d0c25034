package dsl

import (
	"cmp"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// WithPatterns makes Parse check every pattern with check, which returns what is
// wrong with one, if anything, and the remedy. The generator has such a check.
// Parse reports these faults together with its own, in the order of the file.
func WithPatterns(check func(pattern string) (fault, hint string)) Option {
	return func(p *parser) { p.pattern = check }
}

// Parse reads the source of a declaration file. The path is only used in
// diagnostics. The error is of type [Diagnostics] and holds every fault of the file.
func Parse(path string, src []byte, opts ...Option) (*File, error) {
	p := &parser{src: source{path: path}, file: &File{Path: path}, levels: newLevels(), defaults: newDefaults(), enums: make(map[*Schema]map[string]bool)}
	for _, opt := range opts {
		opt(p)
	}
	root := p.load(src)
	if root != nil {
		p.root = root
		p.checkDrafts()
		p.includeAll()
		p.mergeAll()
		p.parseFile(root)
		p.resolveRefs()
		p.resolveChecked()
		p.cutLoops()
		for _, s := range p.unions {
			p.findTag(s)
		}
		p.checkFinite()
		p.documents()
		for _, check := range p.checks {
			check()
		}
	}
	slices.SortStableFunc(p.warned, func(a, b Warning) int {
		return cmp.Or(cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col))
	})
	p.file.Warnings = p.warned
	if err := p.found.Err(); err != nil {
		if found, ok := err.(Diagnostics); ok && p.part != nil {
			p.handPart(root, found)
		}
		return nil, err
	}
	p.file.source, p.file.EditorSchema = p.src, editorSchemaFile(src)
	return p.file, nil
}

func fileLevel() level[File] {
	return level[File]{what: "the file", only: map[string]string{"ambit": "v1"}, keys: keys[File]{
		{name: "ambit", required: true, is: wordVersion, doc: "Version of this grammar.",
			read: func(p *parser, n *node, _ *File) { p.version(n) }},
		{name: "package", required: true, is: wordPackage, doc: "Go package of the generated code.",
			read: func(p *parser, n *node, f *File) { f.Package = p.packageName(n) }},
		{name: "types", is: wordTypes, doc: "Schemas to share, referenced as $ref: \"#/types/NAME\".",
			read: (*parser).parseTypes},
		{name: "reasons", is: wordReasons, doc: "Denial codes that the policies of this set use, each with its description.", rules: "2.3",
			read: (*parser).parseReasons},
		{name: "formats", is: wordFormats, doc: "What a format is that is not enforced: an annotation with a warning, or an error.", without: "annotate",
			read: func(p *parser, n *node, _ *File) { p.choice(n, "formats", formatPolicies...) }},
		{name: "rules", is: mapping("setRules"), doc: "Rules of the whole set.", rules: "4",
			read: (*parser).parseSetRules},
		{name: "defaults", is: mapping("defaults"), doc: "Values for the tools that have none of their own.", rules: "8",
			read: func(*parser, *node, *File) {}},
		{name: "isolation", is: wordTier, doc: "The tier of the command tools that declare none.", without: "sandbox",
			read: func(p *parser, n *node, f *File) { f.Isolation = p.choice(n, "isolation", tiers...) }},
		{name: "unboxed", is: wordFlag, doc: "The file may hold command tools of the tier process, which have no box.", without: "false",
			read: func(p *parser, n *node, f *File) { f.Unboxed = p.flag(n, "unboxed") }},
		{name: "tools", required: true, is: wordTools, doc: "The tools by name.",
			read: (*parser).parseTools},
	}}
}

func (p *parser) parseFile(root *node) {
	at := Pos{Line: 1, Col: 1}
	p.parseDefaults(root)
	p.places = walk(p, root, p.levels.file, "the file", at, p.file)
	p.file.PackagePos, p.file.ToolsPos = p.places["package"], p.places["tools"]
}

// version checks the version of the grammar.
func (p *parser) version(n *node) {
	if n.kind != nodeBad && (n.kind != nodeString || n.text != "v1") {
		p.report(n.pos, "write ambit: v1", "ambit: version %s of the grammar is not known", n.shown())
	}
}

func (p *parser) packageName(n *node) string {
	name, ok := p.text(n, "package")
	if !ok {
		return name
	}
	if why := PackageFault(name); why != "" {
		hint := "use lower-case letters and digits, such as filetools"
		if own := strings.TrimRight(strings.TrimSuffix(name, "_test"), "_"); token.IsIdentifier(own+"tools") && len(own) < maxName-len("tools") {
			hint = "choose another name, such as " + own + "tools"
		}
		p.report(n.pos, hint, "package: %s %s", quote(name), why)
	}
	return name
}

// PackageFault says why the package of tools cannot have a name; empty when it can. A program of one package may have them in its
// package main.
func PackageFault(name string) string {
	switch {
	case token.IsKeyword(name):
		return "is a Go keyword"
	case !token.IsIdentifier(name) || name == "_" || len(name) > maxName:
		return "is not a Go package name"
	case strings.HasSuffix(name, "_test"):
		return "ends as the packages of tests do"
	case slices.Contains(unusablePackages, name):
		return "means something else to Go"
	case types.Universe.Lookup(name) != nil:
		return "is a predeclared name of Go"
	}
	return ""
}

// unusablePackages are the names of packages that Go reads otherwise: no file can import init, and the go command does not build the files of
// documentation.
var unusablePackages = []string{"init", "documentation"}

// parseTypes reads the shared schemas.
func (p *parser) parseTypes(n *node, f *File) {
	f.Types = p.namedSchemas(n, "types", nil)
	p.types = make(map[string]*NamedSchema, len(f.Types))
	for _, t := range f.Types {
		p.types[t.Name] = t
	}
}

func (p *parser) parseReasons(n *node, f *File) {
	if !p.isMap(n, "reasons") {
		return
	}
	taken := make(names)
	for _, e := range n.pairs {
		if !e.twin && p.name(e, "reason", lowerName) {
			p.unique(taken, e.name, e.key, "reason")
		}
		if text, ok := p.prose(e.val, e.name); ok {
			f.Reasons = append(f.Reasons, &Reason{Code: e.name, Description: text, Pos: e.key})
		}
	}
}

func (p *parser) parseTools(n *node, f *File) {
	if !p.isMap(n, "tools") {
		return
	}
	if len(n.pairs) == 0 {
		p.report(n.pos, "declare at least one", "tools: no tool is declared")
	}
	p.tools = make(map[string]*Tool, len(n.pairs))
	taken := make(names)
	for _, e := range n.pairs {
		if !e.twin && p.name(e, "tool", lowerName) {
			p.unique(taken, e.name, e.key, "tool")
		}
		t := p.parseTool(e)
		f.Tools = append(f.Tools, t)
		p.tools[e.name] = t
	}
	p.later(func() { p.checkCalled(f.Tools) })
}
