package dsl

import (
	"errors"
	"io/fs"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
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
	in := &includer{p: p, files: make(map[string]*node), entries: make(map[string]string), taken: make(map[string]bool)}
	types := p.root.get("types")
	if types != nil {
		for _, e := range types.pairs {
			in.taken[fold(GoName(e.name))] = true
		}
		for _, e := range slices.Clone(types.pairs) {
			in.rewrite(e.val, "", holdsID(e.val))
		}
	}
	if tools := p.root.get("tools"); tools != nil {
		for _, e := range tools.pairs {
			for _, s := range []*node{e.val.get("input"), e.val.get("output"), e.val.get("undo").get("state")} {
				if s != nil {
					in.rewrite(s, "", holdsID(s))
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
func holdsID(n *node) bool {
	return n.get("$id") != nil || slices.ContainsFunc(schemasIn(n), holdsID)
}

type includer struct {
	p       *parser
	files   map[string]*node  // by their paths; nil for one that cannot be read
	entries map[string]string // what became of a file and a fragment
	taken   map[string]bool   // names of types
	added   []pair
}

// rewrite makes the references of a schema lead to entries of types where they lead to
// another file. The schema stands in a file of that path; an empty path is the declaration.
func (in *includer) rewrite(n *node, file string, byID bool) {
	if ref := n.get("$ref"); ref != nil && ref.kind == nodeString && !byID {
		if name, fragment, ok := in.target(ref, file); ok {
			ref.text = "#/types/" + in.entry(ref, name, fragment)
		}
	}
	for _, part := range schemasIn(n) {
		in.rewrite(part, file, byID)
	}
}

// target returns the file that a reference leads to, and the part of it. It reports false
// for one that leads to no file, or to one that is refused.
func (in *includer) target(ref *node, file string) (name, fragment string, ok bool) {
	uri, err := url.Parse(ref.text)
	if err != nil || uri.Scheme != "" && len(uri.Scheme) > 1 || uri.Host != "" || uri.Path == "" && file == "" {
		return "", "", false
	}
	if uri.Path == "" {
		return file, uri.Fragment, true
	}
	if !slices.Contains([]string{".json", ".yaml", ".yml"}, path.Ext(uri.Path)) {
		return "", "", false
	}
	name = path.Join(path.Dir(file), uri.Path)
	if path.IsAbs(uri.Path) || uri.Scheme != "" || !fs.ValidPath(name) || strings.Contains(uri.Path, `\`) {
		in.p.report(ref.pos, "copy the file below the declaration, and name it from there", "$ref: %s leads out of the folder of the declaration", quote(ref.text))
		return "", "", false
	}
	return name, uri.Fragment, true
}

// entry returns the name of the entry of types for a part of a file.
func (in *includer) entry(ref *node, file, fragment string) string {
	id := file + "#" + fragment
	if name, ok := in.entries[id]; ok {
		return name
	}
	name := in.name(file, fragment)
	in.entries[id] = name
	part := in.part(in.read(ref, file), fragment)
	if whole := part != nil && (part.kind == nodeMap || part.kind == nodeBool); !whole || !in.p.mayCopy(part, ref) {
		if !whole && in.files[file] != nil {
			in.p.report(ref.pos, "name a schema of the file, such as "+file+"#/$defs/NAME", "$ref: %s leads to no schema of the file", quote(ref.text))
		}
		part = &node{kind: nodeMap, pos: ref.pos, pairs: []pair{{name: "description", key: ref.pos, val: &node{kind: nodeString, pos: ref.pos, text: "Unknown."}}}} // one fault is enough
	}
	own := part.clone()
	own.setPairs(slices.DeleteFunc(own.pairs, func(e pair) bool {
		return slices.Contains([]string{"$id", "$anchor", "$defs", "definitions"}, e.name) // references no longer need them
	})...)
	in.rewrite(own, file, false)
	in.added = append(in.added, pair{name: name, key: part.pos, val: own})
	return name
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
func (in *includer) read(ref *node, file string) *node {
	if n, ok := in.files[file]; ok {
		return n
	}
	in.files[file] = nil
	refuse := func(hint, what string) *node {
		in.p.report(ref.pos, hint, "$ref: the file %s %s", quote(file), what)
		return nil
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
	in.files[file] = in.p.loadOther(path.Join(path.Dir(strings.ReplaceAll(in.p.src.path, `\`, "/")), file), src)
	if n := in.files[file]; n != nil {
		in.p.checkOtherDraft(n)
	}
	return in.files[file]
}

// part returns the part of a file that a fragment names: by a JSON Pointer, or an anchor.
func (in *includer) part(n *node, fragment string) *node {
	if n == nil {
		return nil
	}
	if fragment != "" && fragment[0] != '/' {
		return anchored(n, fragment)
	}
	if fragment == "" {
		return n
	}
	for _, key := range strings.Split(fragment[1:], "/") {
		key = strings.NewReplacer("~1", "/", "~0", "~").Replace(key)
		if i, err := strconv.Atoi(key); err == nil && n.kind == nodeList && 0 <= i && i < len(n.items) {
			n = n.items[i]
			continue
		}
		if n = n.get(key); n == nil {
			return nil
		}
	}
	return n
}

// anchored finds the schema with an anchor.
func anchored(n *node, name string) *node {
	if a := n.get("$anchor"); a.word() == name {
		return n
	}
	for _, part := range schemasIn(n) {
		if found := anchored(part, name); found != nil {
			return found
		}
	}
	return nil
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
