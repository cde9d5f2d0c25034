package jsonschema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"sort"
	"strconv"
	"unicode/utf8"
)

// An Error is a fault of a source, at a place.
type Error struct {
	Pos     Pos
	Message string
	Hint    string // what to do; empty: the message says it
}

// Error implements error.
func (e *Error) Error() string { return fmt.Sprintf("%d:%d: %s", e.Pos.Line, e.Pos.Col, e.Message) }

// Parse reads a source that holds one JSON value in UTF-8. It refuses what readers of
// JSON disagree on: repeated names and invalid UTF-8, and values that are nested deeper than so many levels. The error
// is of type [*Error].
func Parse(src []byte, deepest int) (*Value, error) {
	p := &parser{src: src, lines: []int{0}, deepest: deepest}
	for i, c := range src {
		if c == '\n' {
			p.lines = append(p.lines, i+1)
		}
	}
	if e := otherForm(src); e != nil {
		return nil, e
	}
	if at := invalid(src); at >= 0 {
		return nil, p.fault(at, "the text is not valid UTF-8")
	}
	p.dec = json.NewDecoder(bytes.NewReader(src))
	p.dec.UseNumber()
	v, err := p.value(0)
	if err != nil {
		return nil, p.located(err)
	}
	end := p.next()
	switch _, err := p.dec.Token(); {
	case errors.Is(err, io.EOF):
		v.Locate()
		return v, nil
	default:
		return nil, p.fault(end, "something follows the value")
	}
}

// streamLine matches the first line of a stream of server-sent events, in which a server answers over HTTP.
var streamLine = regexp.MustCompile(`^[\r\n]*(event|data|id|retry)?:`)

// otherForm returns the error of a source that is in a form in which JSON is often found; nil: it is in none.
func otherForm(src []byte) error {
	start := Pos{1, 1}
	const save = "save it as UTF-8 without a byte order mark"
	switch {
	case bytes.HasPrefix(src, []byte("\xef\xbb\xbf")):
		return &Error{start, "the text begins with a byte order mark", save}
	case bytes.HasPrefix(src, []byte("\xff\xfe")), bytes.HasPrefix(src, []byte("\xfe\xff")),
		len(src) > 1 && src[0] == 0 != (src[1] == 0):
		return &Error{start, "the text is in UTF-16 or UTF-32", save}
	case streamLine.Match(src):
		return &Error{start, "the text is no JSON but a stream of server-sent events", `take the JSON behind "data:" of the event that answers tools/list`}
	}
	return nil
}

type parser struct {
	src   []byte
	lines []int // offsets at which lines begin
	dec   *json.Decoder

	deepest int // levels of arrays and objects

	counted, columns int // code points of the line up to an offset: a line may hold the whole source
}

func invalid(src []byte) int {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return -1
}

func (p *parser) pos(offset int) Pos {
	offset = min(offset, len(p.src))
	line := sort.SearchInts(p.lines, offset+1)
	if start := p.lines[line-1]; p.counted < start || p.counted > offset {
		p.counted, p.columns = start, 0
	}
	p.columns += utf8.RuneCount(p.src[p.counted:offset])
	p.counted = offset
	return Pos{line, p.columns + 1}
}

func (p *parser) fault(offset int, format string, args ...any) error {
	return &Error{Pos: p.pos(offset), Message: fmt.Sprintf(format, args...)}
}

// located gives an error of encoding/json its place.
func (p *parser) located(err error) error {
	if _, ok := errors.AsType[*Error](err); ok {
		return err
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return p.fault(int(max(syntax.Offset-1, 0)), "the text is not JSON: %v", syntax)
	}
	return p.fault(len(p.src), "the text is not JSON: it ends early")
}

// next is where the next token begins.
func (p *parser) next() int {
	at := int(p.dec.InputOffset())
	for at < len(p.src) && bytes.IndexByte([]byte(" \t\r\n,:"), p.src[at]) >= 0 {
		at++
	}
	return at
}

func (p *parser) value(depth int) (*Value, error) {
	at := p.next()
	if depth > p.deepest {
		return nil, p.fault(at, "nested deeper than %d levels", p.deepest)
	}
	t, err := p.dec.Token()
	if err != nil {
		return nil, err
	}
	v := &Value{Pos: p.pos(at)}
	switch t := t.(type) {
	case nil:
	case bool:
		v.Kind, v.Bool = Bool, t
	case json.Number:
		v.Kind, v.Text = Number, t.String()
	case string:
		v.Kind, v.Text, v.Broken = String, t, halves(p.src[at:p.dec.InputOffset()])
	case json.Delim:
		if t == '[' {
			return v, p.array(v, depth)
		}
		return v, p.object(v, depth)
	}
	return v, nil
}

func (p *parser) array(v *Value, depth int) error {
	v.Kind = Array
	for p.dec.More() {
		item, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		v.Items = append(v.Items, item)
	}
	_, err := p.dec.Token()
	return err
}

func (p *parser) object(v *Value, depth int) error {
	v.Kind = Object
	seen := map[string]bool{}
	for p.dec.More() {
		at := p.next()
		t, err := p.dec.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		if seen[name] {
			return p.fault(at, "the member %q comes twice", name)
		}
		seen[name] = true
		broken := halves(p.src[at:p.dec.InputOffset()])
		pos := p.pos(at) // before that of the value: columns are counted onwards
		value, err := p.value(depth + 1)
		if err != nil {
			return err
		}
		value.Broken = value.Broken || broken
		v.Members = append(v.Members, &Member{Name: name, Pos: pos, Value: value})
	}
	_, err := p.dec.Token()
	return err
}

// halves reports whether a string as it is written has half of a surrogate pair.
func halves(raw []byte) bool {
	half := false // the last character was a first half
	for i := 1; i+1 < len(raw); i++ {
		c := uint64(0)
		if raw[i] == '\\' {
			if i++; raw[i] == 'u' && i+4 < len(raw) {
				c, _ = strconv.ParseUint(string(raw[i+1:i+5]), 16, 16)
				i += 4
			}
		}
		second := c >= 0xdc00 && c <= 0xdfff
		if half != second {
			return true
		}
		half = c >= 0xd800 && c <= 0xdbff
	}
	return half
}
