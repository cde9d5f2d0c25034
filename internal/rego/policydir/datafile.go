package policydir

import (
	"bytes"
	"encoding/json"
	"path"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// A dataFile has the positions of the values of a JSON file. It is built when an
// error is about one of them.
type dataFile struct {
	name  string
	text  []byte
	found map[string]int // offset of each value, by its path; of each name, by that and keyMark
	Twice []repeatedKey
}

// KeyMark ends the path of a member's name; without it the path is that of its value.
const KeyMark = "\x01"

// A repeatedKey is a member that an object of a JSON file has already.
type repeatedKey struct {
	Name      string
	At, First int // offsets
}

// A jsonScope is an object or an array that a scan is inside of.
type jsonScope struct {
	path   string
	object bool
	name   string         // of the member whose value comes next
	named  bool           // name is set
	next   int            // index of the next element
	keys   map[string]int // offsets of the members so far
}

// ScanJSON finds the offsets of all values of a JSON text and the members that
// an object has twice. A text that is no JSON is scanned up to the fault.
func ScanJSON(name string, text []byte) *dataFile {
	f := &dataFile{name: name, text: text, found: map[string]int{}}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var stack []*jsonScope
	for {
		before := f.skip(int(d.InputOffset()))
		t, err := d.Token()
		if err != nil {
			return f
		}
		if end, isEnd := t.(json.Delim); isEnd && (end == '}' || end == ']') {
			stack = stack[:len(stack)-1]
			continue
		}
		path := ""
		if len(stack) > 0 {
			top := stack[len(stack)-1]
			if text, isText := t.(string); isText && top.object && !top.named {
				f.key(top, text, before)
				continue
			}
			path = top.value()
		}
		if _, seen := f.found[path]; !seen {
			f.found[path] = before
		}
		if begin, isBegin := t.(json.Delim); isBegin {
			stack = append(stack, &jsonScope{path: path, object: begin == '{', keys: map[string]int{}})
		}
	}
}

// key notes the name of a member.
func (f *dataFile) key(in *jsonScope, name string, at int) {
	if first, seen := in.keys[name]; seen {
		f.Twice = append(f.Twice, repeatedKey{name, at, first})
	} else {
		in.keys[name] = at
		f.found[JSONPath(in.path, name)+KeyMark] = at
	}
	in.name, in.named = name, true
}

// value returns the path of the value that comes next.
func (s *jsonScope) value() string {
	if s.object {
		s.named = false
		return JSONPath(s.path, s.name)
	}
	s.next++
	return JSONPath(s.path, strconv.Itoa(s.next-1))
}

// JSONPath returns the path of a member or an element.
func JSONPath(parent, name string) string { return parent + "\x00" + name }

// skip returns the offset of the next token.
func (f *dataFile) skip(offset int) int {
	for offset < len(f.text) && bytes.IndexByte([]byte(" \t\r\n,:"), f.text[offset]) >= 0 {
		offset++
	}
	return offset
}

// Location returns the line and the column of an offset.
func (f *dataFile) Location(offset int) *ast.Location {
	before := f.text[:min(offset, len(f.text))]
	line := bytes.LastIndexByte(before, '\n') + 1
	return &ast.Location{File: f.name, Row: bytes.Count(before, []byte("\n")) + 1, Col: len(before) - line + 1}
}

// WhereData returns the location of a path in base data.
func (b *Bundle) WhereData(wanted string) *ast.Location {
	for _, f := range b.Src.Files {
		if path.Base(f.Path) != "data.json" || f.Generated() {
			continue
		}
		mounted := ""
		if dir := path.Dir(f.Path); dir != "." {
			mounted = "\x00" + strings.ReplaceAll(dir, "/", "\x00")
		}
		rest, ok := strings.CutPrefix(wanted, mounted)
		if !ok {
			continue
		}
		scanned := ScanJSON(f.Name, f.Text)
		if offset, ok := scanned.found[rest]; ok {
			return scanned.Location(offset)
		}
	}
	return nil
}
