package ir

import (
	"strconv"

	"github.com/ambit-tools/ambit/dsl"
)

// An object is a JSON object under construction: its members keep their order,
// so that the same declaration is always the same bytes.
type object []member

type member struct {
	name  string
	value any // string, bool, int64, number, object, []any, *dsl.Value
}

// A number is a JSON number literal.
type number string

// set adds a member.
func (o *object) set(name string, value any) { *o = append(*o, member{name, value}) }

// setIf adds a member that has something to say.
func (o *object) setIf(ok bool, name string, value any) {
	if ok {
		o.set(name, value)
	}
}

// list makes a JSON array of strings.
func list(values []string) []any {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = v
	}
	return all
}

// pretty is a JSON file: two spaces of indent, a line feed at the end.
func pretty(v any) []byte { return append(appendJSON(nil, v, 0), '\n') }

// compact is JSON without white space.
func compact(v any) []byte { return appendJSON(nil, v, -1) }

// appendJSON appends v at a depth; a negative one asks for no white space.
func appendJSON(dst []byte, v any, depth int) []byte {
	switch v := v.(type) {
	case string:
		return appendString(dst, v)
	case bool:
		return strconv.AppendBool(dst, v)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case number:
		return append(dst, v...)
	case *dsl.Value:
		return append(dst, v.JSON()...)
	case object:
		return appendObject(dst, v, depth)
	case []any:
		return appendArray(dst, v, depth)
	}
	return append(dst, "null"...)
}

func appendObject(dst []byte, o object, depth int) []byte {
	if len(o) == 0 {
		return append(dst, "{}"...)
	}
	dst = append(dst, '{')
	for i, m := range o {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendBreak(dst, depth+1, depth >= 0)
		dst = append(appendString(dst, m.name), ':')
		if depth >= 0 {
			dst = append(dst, ' ')
		}
		dst = appendJSON(dst, m.value, deeper(depth))
	}
	return append(appendBreak(dst, depth, depth >= 0), '}')
}

// appendArray keeps an array of scalars on one line, as a person would.
func appendArray(dst []byte, a []any, depth int) []byte {
	multi := false
	for _, v := range a {
		switch v.(type) {
		case object, []any:
			multi = depth >= 0
		}
	}
	dst = append(dst, '[')
	for i, v := range a {
		if i > 0 {
			dst = append(dst, ',')
			if depth >= 0 && !multi {
				dst = append(dst, ' ')
			}
		}
		dst = appendBreak(dst, depth+1, multi)
		dst = appendJSON(dst, v, deeper(depth))
	}
	return append(appendBreak(dst, depth, multi), ']')
}

func deeper(depth int) int {
	if depth < 0 {
		return depth
	}
	return depth + 1
}

func appendBreak(dst []byte, depth int, multi bool) []byte {
	if !multi {
		return dst
	}
	dst = append(dst, '\n')
	for range depth {
		dst = append(dst, "  "...)
	}
	return dst
}

// appendString quotes as package dsl does.
func appendString(dst []byte, s string) []byte {
	return append(dst, (&dsl.Value{Kind: dsl.ValueString, Text: s}).JSON()...)
}
