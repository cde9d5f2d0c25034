package dsl

import (
	"errors"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/internal/jsonschema"
)

// WithFiles lets references lead to files below the folder of the declaration: files is
// that folder. Nothing outside of it is read, and nothing is fetched.
func WithFiles(files fs.FS) Option {
	return func(p *parser) { p.files = files }
}

// maxFiles is how many files the references of a declaration may lead to.
const maxFiles = 1000

// includeAll makes an entry of types of every schema in another file that a reference leads to.
func (p *parser) includeAll() {
	in := &includer{p: p, files: make(map[string]*otherFile), entries: make(map[*node]string), missing: make(map[string]string),
		origins: make(map[*node]*node), taken: make(map[string]bool)}
	types := p.root.get("types")
	if types != nil {
		for _, e := range types.pairs {
			in.taken[fold(GoName(e.name))] = true
		}
		for _, e := range slices.Clone(types.pairs) {
			in.rewrite(e.val, nil, holdsID(e.val))
		}
	}
	if tools := p.root.get("tools"); tools != nil {
		for _, e := range tools.pairs {
			for _, s := range []*node{e.val.get("input"), e.val.get("output"), e.val.get("undo").get("state")} {
				if s != nil {
					in.rewrite(s, nil, holdsID(s))
				}
			}
		}
	}
	if len(in.added) == 0 {
		return
	}
	if types == nil {
		types = &node{kind: nodeMap, pos: p.root.pos}
		p.root.add(pair{name: "types", key: p.root.pos, val: types})
	}
	types.add(in.added...)
}

// holdsID reports whether a schema has an $id: references start from that, and name no files.
func holdsID(n *node) bool { return holds(n, "$id") }

// holds reports whether a schema, or one inside it, has a keyword.
func holds(n *node, keyword string) bool {
	return n.get(keyword) != nil || slices.ContainsFunc(schemasIn(n), func(part *node) bool { return holds(part, keyword) })
}

type includer struct {
	p       *parser
	files   map[string]*otherFile // by their paths
	entries map[*node]string      // what became of a schema of a file
	missing map[string]string     // what became of a file and a fragment that lead to none
	origins map[*node]*node       // of the copies of schemas: where they stand in their file
	taken   map[string]bool       // names of types
	added   []pair
}

// An otherFile is a file besides the declaration. Its root is nil where it cannot be read.
type otherFile struct {
	path  string
	root  *node
	index *jsonschema.Index[*node]
	// dynamic says that it has $dynamicRef, whose target depends on resources and anchors.
	dynamic bool
}

// A spot is what a reference to another file names.
type spot struct {
	file, fragment string // the fragment as it is written
	part           *node  // nil where it is not known yet
}

// rewrite makes the references of a schema lead to entries of types where they lead to
// another file. The schema is a copy of one in from; nil is the declaration.
func (in *includer) rewrite(n *node, from *otherFile, byID bool) {
	if ref := n.get("$ref"); ref != nil && ref.kind == nodeString && !byID {
		if to, ok := in.target(n, ref, from); ok {
			ref.text = "#/types/" + in.entry(ref, to)
		}
	}
	if from != nil && !from.dynamic { // references no longer need them
		n.setPairs(slices.DeleteFunc(n.pairs, func(e pair) bool { return e.name == "$id" || e.name == "$anchor" })...)
	}
	for _, part := range schemasIn(n) {
		in.rewrite(part, from, byID)
	}
}

// target returns what a reference of n leads to in a file. It reports false for one that leads to no file, or to one that
// is refused. What is no part of its own file by an $id there is a path from it.
func (in *includer) target(n, ref *node, from *otherFile) (to spot, ok bool) {
	uri, err := url.Parse(ref.text)
	if err != nil {
		return spot{}, false
	}
	own := ""
	if from != nil {
		own = from.path
		part, err := from.index.Find(in.origins[n], ref.text)
		if !errors.Is(err, jsonschema.ErrOutside) {
			return spot{own, uri.EscapedFragment(), part}, true
		}
	}
	if len(uri.Scheme) > 1 || uri.Host != "" || uri.Path == "" {
		return spot{}, false
	}
	if !slices.Contains([]string{".json", ".yaml", ".yml"}, path.Ext(uri.Path)) {
		return spot{}, false
	}
	name := path.Join(path.Dir(own), uri.Path)
	if path.IsAbs(uri.Path) || uri.Scheme != "" || !fs.ValidPath(name) || strings.Contains(uri.Path, `\`) {
		in.p.report(ref.pos, "copy the file below the declaration, and name it from there", "$ref: %s leads out of the folder of the declaration", quote(ref.text))
		return spot{}, false
	}
	return spot{file: name, fragment: uri.EscapedFragment()}, true
}

// entry returns the name of the entry of types for a part of a file.
func (in *includer) entry(ref *node, to spot) string {
	f, part := in.read(ref, to.file), to.part
	if part == nil && f.root != nil {
		part, _ = f.index.Find(f.root, "#"+to.fragment)
	}
	if name, ok := in.entries[part]; ok && part != nil {
		return name
	}
	if name, ok := in.missing[to.file+"#"+to.fragment]; ok && part == nil {
		return name
	}
	decoded, _ := url.PathUnescape(to.fragment)
	name := in.name(to.file, decoded)
	if part != nil {
		in.entries[part] = name
	} else {
		in.missing[to.file+"#"+to.fragment] = name
	}
	if whole := part != nil && (part.kind == nodeMap || part.kind == nodeBool); !whole || !in.p.mayCopy(part, ref) {
		if !whole && f.root != nil {
			in.p.report(ref.pos, "name a schema of the file, such as "+to.file+"#/$defs/NAME", "$ref: %s leads to no schema of the file", quote(ref.text))
		}
		part = &node{kind: nodeMap, pos: ref.pos, pairs: []pair{{name: "description", key: ref.pos, val: &node{kind: nodeString, pos: ref.pos, text: "Unknown."}}}} // one fault is enough
	}
	own := part.clone()
	in.copies(own, part)
	own.setPairs(slices.DeleteFunc(own.pairs, func(e pair) bool {
		return slices.Contains([]string{"$id", "$anchor", "$defs", "definitions"}, e.name)
	})...)
	in.rewrite(own, f, false)
	in.added = append(in.added, pair{name: name, key: part.pos, val: own})
	return name
}

// copies notes of each part of a copy where it stands in its file.
func (in *includer) copies(own, part *node) {
	in.origins[own] = part
	for i, item := range own.items {
		in.copies(item, part.items[i])
	}
	for i, e := range own.pairs {
		in.copies(e.val, part.pairs[i].val)
	}
}

// name makes a name that no type has, of the last part of a pointer, or of the file.
func (in *includer) name(file, fragment string) string {
	base := GoName(path.Base(fragment))
	if fragment == "" || !typeName.MatchString(base) {
		base = GoName(strings.TrimSuffix(path.Base(file), path.Ext(file)))
	}
	if !typeName.MatchString(base) {
		base = "Schema"
	}
	name := base
	for i := 2; in.taken[fold(name)]; i++ {
		name = base + strconv.Itoa(i)
	}
	in.taken[fold(name)] = true
	return name
}

// read reads a file, once.
func (in *includer) read(ref *node, file string) *otherFile {
	if f, ok := in.files[file]; ok {
		return f
	}
	f := &otherFile{path: file}
	in.files[file] = f
	refuse := func(hint, what string) *otherFile {
		in.p.report(ref.pos, hint, "$ref: the file %s %s", quote(file), what)
		return f
	}
	switch {
	case in.p.files == nil:
		return refuse("copy the schema into types or $defs", "is not read here")
	case len(in.files) > maxFiles:
		return refuse("put their schemas into fewer files", "is one of more than "+strconv.Itoa(maxFiles))
	}
	src, err := fs.ReadFile(in.p.files, file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refuse("name a file below the folder of the declaration", "does not exist")
	case err != nil:
		return refuse("name a file below the folder of the declaration that you may read", "cannot be read")
	case len(strings.TrimSpace(string(src))) == 0:
		return refuse("write a schema into it", "is empty")
	}
	f.root = in.p.loadOther(path.Join(path.Dir(strings.ReplaceAll(in.p.src.path, `\`, "/")), file), src)
	if f.root != nil {
		in.p.checkOtherDraft(f.root)
		f.index, f.dynamic = jsonschema.NewIndex(nodes{}, f.root), holds(f.root, "$dynamicRef")
	}
	return f
}

// loadOther reads another file than the declaration. Its faults have their places in it.
func (p *parser) loadOther(path string, src []byte) *node {
	own := p.src
	p.src = source{path: path}
	n := p.load(src)
	if own.others == nil {
		own.others = make(map[string]source)
	}
	own.others[path] = p.src
	p.src = own
	return n
}
