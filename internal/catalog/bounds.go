package catalog

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// bounded are the keywords that are told in words, in which %s is their value.
var bounded = []struct{ keyword, words string }{
	{"const", "only %s"}, {"enum", "one of %s"},
	{"minLength", "at least %s characters"}, {"maxLength", "at most %s characters"},
	{"minimum", "at least %s"}, {"exclusiveMinimum", "more than %s"}, {"maximum", "at most %s"}, {"exclusiveMaximum", "less than %s"},
	{"multipleOf", "a multiple of %s"}, {"minItems", "at least %s items"}, {"maxItems", "at most %s items"},
	{"minProperties", "at least %s members"}, {"maxProperties", "at most %s members"},
	{"pattern", "matches %s"}, {"format", "in the form %s"}, {"default", "without it %s"},
}

// flags are the keywords that are told in words when they are true.
var flags = []struct{ keyword, words string }{
	{"uniqueItems", "no item twice"}, {"x-sensitive", "sensitive: recorded and shown as a commitment"}, {"deprecated", "deprecated"},
}

// told are the keywords that a Member tells otherwise, and those that bind nothing.
var told = []string{"type", "description", "properties", "required", "items", "additionalProperties", "title", "examples", "$comment", "$defs", "$schema", "$id", "$ref", "readOnly", "writeOnly"}

// bounds says what else a schema asks of a value. A keyword without words of its own is named.
func bounds(n node) (list []string) {
	rest := maps.Clone(n)
	for _, b := range bounded {
		if v, ok := rest[b.keyword]; ok {
			words := strings.Replace(b.words, "%s", valueText(v), 1)
			if string(v) == "1" {
				words = strings.TrimSuffix(words, "s")
			}
			list = append(list, words)
			delete(rest, b.keyword)
		}
	}
	for _, f := range flags {
		if string(rest[f.keyword]) == "true" {
			list = append(list, f.words)
		}
		delete(rest, f.keyword)
	}
	for _, keyword := range told {
		delete(rest, keyword)
	}
	if left := slices.Sorted(maps.Keys(rest)); len(left) > 0 {
		list = append(list, "more in the schema: "+strings.Join(left, ", "))
	}
	return list
}

// valueText is a JSON value on one line; the members of a list with commas.
func valueText(v json.RawMessage) string {
	var list []json.RawMessage
	if json.Unmarshal(v, &list) == nil && len(list) > 0 {
		words := make([]string, len(list))
		for i, item := range list {
			words[i] = valueText(item)
		}
		return strings.Join(words, ", ")
	}
	var out bytes.Buffer
	if json.Compact(&out, v) != nil {
		return string(v)
	}
	return out.String()
}
