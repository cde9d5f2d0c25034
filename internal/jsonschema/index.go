package jsonschema

import (
	"errors"
	"maps"
	"net/url"
	"strconv"
	"strings"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// Why a reference leads to no schema.
var (
	ErrURI       = errors.New("it is no URI reference")
	ErrOutside   = errors.New("it leads out of the document")
	ErrPointer   = errors.New("its JSON Pointer leads nowhere")
	ErrAnchor    = errors.New("no schema has its anchor")
	ErrAmbiguous = errors.New("several schemas have its name")
)

// maxURI bounds the URIs of resources, in bytes: each relative $id repeats those around it.
const maxURI = 2048

// A Resource is a schema that has a URI: the root, or a part with an $id.
type Resource[N comparable] struct {
	URI    string // without a fragment
	Root   N
	Within *Resource[N] // nil at the root
	// Dynamic are its dynamic anchors, in their order.
	Dynamic []Anchor[N]

	base    *url.URL
	anchors map[string]named[N]
}

// An Anchor is a name of a schema in a resource.
type Anchor[N comparable] struct {
	Name string
	At   N
}

// named is what has a name.
type named[N any] struct {
	at      N
	several bool
}

// A Fault is an $id or an anchor that names nothing, or not only one schema.
type Fault[N comparable] struct {
	At      N // the value of the keyword
	Keyword string
	Text    string
	Err     error // ErrURI or ErrAmbiguous
	Other   N     // that has the name too, with ErrAmbiguous
}

// An Index knows what the references of a document lead to, by JSON Schema 2020-12: relative to the
// nearest $id, to a resource of the document, and in it by a JSON Pointer or an anchor. Of older drafts it knows
// an $id that begins with #, which is an anchor. It reads no other document. It is not safe for concurrent use.
type Index[N comparable] struct {
	Resources []*Resource[N] // the root first
	Faults    []Fault[N]

	tree    Tree[N]
	byURI   map[string]named[*Resource[N]]
	owner   map[N]*Resource[N] // of each schema
	large   map[N]map[string]N // members of large objects
	adopted map[N]bool         // of those with an owner, the ones to which only pointers have led
}

// NewIndex reads the document root, which must not change while the index is in use. A root without $id
// has a URI that nothing else has.
func NewIndex[N comparable](t Tree[N], root N) *Index[N] {
	x := &Index[N]{tree: t, byURI: map[string]named[*Resource[N]]{}, owner: map[N]*Resource[N]{}, large: map[N]map[string]N{}, adopted: map[N]bool{}}
	r := &Resource[N]{Root: root, base: &url.URL{Scheme: "schema", Path: "/"}, anchors: map[string]named[N]{}}
	anchor, uri := x.identity(root, r)
	if uri != nil {
		r.base = uri
	}
	x.enter(r)
	if anchor != "" {
		x.name("$id", anchor, root, r)
	}
	x.add(root, r)
	return x
}

// enter makes a resource known.
func (x *Index[N]) enter(r *Resource[N]) {
	r.URI = r.base.String()
	x.Resources = append(x.Resources, r)
	first, again := x.byURI[r.URI]
	if !again {
		first.at = r
	} else {
		x.fault(r.Root, "$id", ErrAmbiguous, first.at.Root)
	}
	x.byURI[r.URI] = named[*Resource[N]]{first.at, again}
}

// fault notes a fault of a keyword.
func (x *Index[N]) fault(schema N, keyword string, err error, other N) {
	at, _ := x.member(schema, keyword)
	text, _ := x.tree.Text(at)
	x.Faults = append(x.Faults, Fault[N]{at, keyword, text, err, other})
}

// identity returns what the $id of a schema in a resource says: an anchor of older drafts, a URI, both or neither.
func (x *Index[N]) identity(schema N, in *Resource[N]) (anchor string, uri *url.URL) {
	id, ok := x.text(schema, "$id")
	if !ok {
		return "", nil
	}
	where, fragment, _ := strings.Cut(id, "#")
	anchor, err := url.PathUnescape(fragment)
	if where != "" && err == nil {
		uri, err = against(in.base, where)
	}
	if err != nil || fragment != "" {
		x.fault(schema, "$id", ErrURI, in.Root)
	} else if where == "" && schema != in.Root {
		x.fault(schema, "$id", ErrAmbiguous, in.Root)
	}
	if err != nil {
		return "", nil
	}
	return anchor, uri
}

// text returns the text of a keyword that has one.
func (x *Index[N]) text(schema N, keyword string) (string, bool) {
	if at, ok := x.member(schema, keyword); ok {
		return x.tree.Text(at)
	}
	return "", false
}

// against resolves a URI reference without a fragment.
func against(base *url.URL, ref string) (*url.URL, error) {
	uri, err := base.Parse(ref)
	if err != nil || len(uri.String()) > maxURI {
		return nil, ErrURI
	}
	return uri, nil
}

// add reads a schema that stands in a resource, and those inside of it.
func (x *Index[N]) add(schema N, in *Resource[N]) {
	if _, seen := x.owner[schema]; seen {
		return
	}
	if schema != in.Root {
		anchor, uri := x.identity(schema, in)
		if uri != nil && (anchor == "" || uri.String() != in.URI) {
			in = &Resource[N]{Root: schema, Within: in, base: uri, anchors: map[string]named[N]{}}
			x.enter(in)
		}
		if anchor != "" {
			x.name("$id", anchor, schema, in)
		}
	}
	x.owner[schema] = in
	for _, keyword := range []string{"$anchor", "$dynamicAnchor"} {
		if name, ok := x.text(schema, keyword); ok {
			x.name(keyword, name, schema, in)
			if keyword == "$dynamicAnchor" {
				in.Dynamic = append(in.Dynamic, Anchor[N]{name, schema})
			}
		}
	}
	for _, sub := range Subschemas(x.tree, schema) {
		x.add(sub, in)
	}
}

// name gives a schema a name in a resource.
func (x *Index[N]) name(keyword, name string, schema N, in *Resource[N]) {
	first, taken := in.anchors[name]
	if !taken || first.at == schema {
		in.anchors[name] = named[N]{schema, first.several}
		return
	}
	in.anchors[name] = named[N]{first.at, true}
	x.fault(schema, keyword, ErrAmbiguous, first.at)
}

// Resource returns the resource in which a schema stands: the nearest one where a pointer has led to a part that no
// keyword holds, and the root where none has.
func (x *Index[N]) Resource(schema N) *Resource[N] {
	if r := x.owner[schema]; r != nil {
		return r
	}
	return x.Resources[0]
}

// Find returns the value to which a reference of a schema leads. It is a schema if it is an object or a
// boolean. A dynamic reference leads there too before its scope is looked at. The error is one of those above.
func (x *Index[N]) Find(from N, ref string) (to N, err error) {
	var none N
	in := x.Resource(from)
	where, fragment, _ := strings.Cut(ref, "#")
	if where != "" {
		uri, err := against(in.base, where)
		if err != nil {
			return none, err
		}
		if name := uri.String(); name != in.URI {
			found, ok := x.byURI[name]
			switch {
			case !ok:
				return none, ErrOutside
			case found.several:
				return none, ErrAmbiguous
			}
			in = found.at
		}
	}
	fragment, err = url.PathUnescape(fragment)
	switch {
	case err != nil:
		return none, ErrURI
	case fragment == "":
		return in.Root, nil
	case fragment[0] == '/':
		return x.pointer(in, fragment)
	}
	a, ok := in.anchors[fragment]
	switch {
	case !ok:
		return none, ErrAnchor
	case a.several:
		return none, ErrAmbiguous
	}
	return a.at, nil
}

// pointer follows a JSON Pointer from the root of a resource.
func (x *Index[N]) pointer(in *Resource[N], pointer string) (to N, err error) {
	var none N
	tokens, err := wire.ParsePointer(pointer)
	if err != nil {
		return none, ErrPointer
	}
	v := in.Root
	for _, token := range tokens {
		next, ok := x.step(v, token)
		if !ok {
			return none, ErrPointer
		}
		if r := x.owner[next]; r != nil {
			in = r
		}
		v = next
	}
	x.adopt(v, in)
	return v, nil
}

// IsSchema reports whether a part of the document is the root or a schema that a keyword holds, directly or within another
// one: to what is none only a pointer leads.
func (x *Index[N]) IsSchema(part N) bool {
	_, known := x.owner[part]
	return known && !x.adopted[part]
}

// adopt gives a part that no keyword holds, and the schemas inside of it, their resource. An $id or an anchor
// in it is none.
func (x *Index[N]) adopt(part N, in *Resource[N]) {
	if _, known := x.owner[part]; known {
		return
	}
	x.owner[part], x.adopted[part] = in, true
	for _, sub := range Subschemas(x.tree, part) {
		x.adopt(sub, in)
	}
}

// step returns the part of a value to which one token of a pointer leads.
func (x *Index[N]) step(v N, token string) (N, bool) {
	if items := x.tree.Items(v); items != nil {
		i, err := strconv.Atoi(token)
		if err != nil || i < 0 || i >= len(items) || strconv.Itoa(i) != token {
			var none N
			return none, false
		}
		return items[i], true
	}
	return x.member(v, token)
}

// largeObject is how many members of an object are looked through for one: it may have as many as there are references.
const largeObject = 32

// member returns a member of an object.
func (x *Index[N]) member(v N, name string) (m N, ok bool) {
	if all := x.large[v]; all != nil {
		m, ok = all[name]
		return m, ok
	}
	looked := 0
	for have, value := range x.tree.Members(v) {
		if have == name {
			return value, true
		}
		if looked++; looked > largeObject {
			x.large[v] = maps.Collect(x.tree.Members(v))
			return x.member(v, name)
		}
	}
	return m, false
}

// Pointer returns the names of the parts through which a reference leads that is a JSON Pointer from the root: #,
// or # and a pointer. It reports false for another one.
func Pointer(ref string) (tokens []string, ok bool) {
	fragment, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, false
	}
	fragment, err := url.PathUnescape(fragment)
	if err != nil {
		return nil, false
	}
	tokens, err = wire.ParsePointer(fragment)
	return tokens, err == nil
}
