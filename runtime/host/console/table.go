package console

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

const (
	maxRows    = 500   // of a table
	maxValue   = 2_000 // characters of a value
	maxPointer = 200   // characters of a place
)

// A table lists the values of a JSON text.
type table struct {
	Rows []row
	More bool // there are values that no row has
}

// A row is one value.
type row struct {
	Pointer string // of JSON (RFC 6901), cut
	Type    string
	Value   string // cut
	More    int    // characters that Value lacks
}

// A container is an object or an array that is being read.
type container struct {
	pointer string
	array   bool
	empty   bool
	next    int    // index of the next element
	member  string // whose value comes next
	named   bool   // member is set
}

// tableOf returns the table of a text; a text that is no JSON has none.
func tableOf(text json.RawMessage) (t table) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var open []container // not by recursion: the text may be deep
	for {
		token, err := d.Token()
		if err != nil || t.More {
			return t
		}
		delim, isDelim := token.(json.Delim)
		if isDelim && (delim == '}' || delim == ']') {
			last := open[len(open)-1]
			if open = open[:len(open)-1]; last.empty {
				t.add(last.pointer, typeOf(delim), string(openerOf(delim))+string(delim))
			}
			continue
		}
		pointer := ""
		if len(open) > 0 {
			var ok bool
			if pointer, ok = open[len(open)-1].place(token); !ok {
				continue
			}
		}
		if isDelim {
			open = append(open, container{pointer: pointer, array: delim == '[', empty: true})
			continue
		}
		t.add(pointer, typeOf(token), textOf(token))
	}
}

// place returns the pointer of the value that a token is or begins; ok is false for the name of a member.
func (c *container) place(token json.Token) (pointer string, ok bool) {
	c.empty = false
	if c.array {
		c.next++
		return c.pointer + "/" + strconv.Itoa(c.next-1), true
	}
	if !c.named {
		c.member, c.named = token.(string), true
		return "", false
	}
	c.named = false
	return c.pointer + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(c.member), true
}

// add adds a row, unless there are too many.
func (t *table) add(pointer, kind, value string) {
	if t.More = len(t.Rows) == maxRows; t.More {
		return
	}
	r := row{Pointer: pointer, Type: kind}
	if begin, more := cut(pointer, maxPointer); more > 0 {
		r.Pointer = begin + "..."
	}
	r.Value, r.More = cut(value, maxValue)
	t.Rows = append(t.Rows, r)
}

func typeOf(token json.Token) string {
	switch v := token.(type) {
	case string:
		return "text"
	case json.Number:
		return "number"
	case bool:
		return "boolean"
	case json.Delim:
		if v == ']' {
			return "list"
		}
		return "object"
	}
	return "null"
}

func openerOf(end json.Delim) json.Delim {
	if end == ']' {
		return '['
	}
	return '{'
}

func textOf(token json.Token) string {
	switch v := token.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return "null"
}
