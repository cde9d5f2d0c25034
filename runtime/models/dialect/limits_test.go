package dialect_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime/models/dialect"
)

// many returns an object with n members of a schema.
func many(n int, schema string) string {
	members := make([]string, n)
	for i := range members {
		members[i] = fmt.Sprintf("%q:%s", fmt.Sprint("m", i), schema)
	}
	return `{"type":"object","properties":{` + strings.Join(members, ",") + `}}`
}

// listed returns an object whose members a and b list n values together.
func listed(n int) string {
	values := make([]string, n)
	for i := range values {
		values[i] = fmt.Sprintf(`"v%d"`, i)
	}
	enum := func(values []string) string { return `{"type":"string","enum":[` + strings.Join(values, ",") + `]}` }
	return `{"type":"object","properties":{"a":` + enum(values[:n/2]) + `,"b":` + enum(values[n/2:]) + `},"required":["a","b"]}`
}

// enum returns a schema that lists n texts with so many characters together.
func enum(n, characters int) string {
	values := make([]string, n)
	for i := range values {
		length := characters / n
		if i == 0 {
			length += characters % n
		}
		values[i] = fmt.Sprintf("%q", strings.Repeat("é", length-4)+fmt.Sprintf("%04d", i))
	}
	return `{"type":"string","enum":[` + strings.Join(values, ",") + `]}`
}

// nested returns n objects in each other.
func nested(n int) string {
	return strings.Repeat(`{"type":"object","properties":{"a":`, n-1) + `{"type":"object","properties":{"b":{"type":"string"}}}` + strings.Repeat(`}}`, n-1)
}

// TestLimits: a schema at the limit of a provider is strict, and one beyond it is not, and says why.
func TestLimits(t *testing.T) {
	for _, c := range []struct {
		d    dialect.Dialect
		most int
		make func(n int) string
		why  string // with the number beyond and the limit
	}{
		{dialect.OpenAIStrict, 5_000, func(n int) string { return many(n, `{"type":"string"}`) }, "(root): properties: refused: the schema has %d members, a strict one may have %d"},
		{dialect.OpenAIStrict, 1_000, listed, "(root): enum: refused: the schema has %d listed values, a strict one may have %d"},
		{dialect.OpenAIStrict, 10, nested, "(root): properties: refused: the schema has %d levels of objects, a strict one may have %d"},
		{dialect.OpenAIStrict, 120_000, func(n int) string {
			return `{"type":"object","properties":{"` + strings.Repeat("x", n) + `":{"type":"string"}}}`
		}, "(root): properties: refused: the schema has %d characters in names and listed values, a strict one may have %d"},
		{dialect.OpenAIStrict, 15_000, func(n int) string { // of 251 texts
			return `{"type":"object","properties":{"a":` + enum(251, n) + `,"b":` + enum(250, 20_000) + `}}`
		}, "(root): enum: refused: the schema has %d characters in an enum of more than 250 texts, a strict one may have %d"},
		{dialect.OpenAIStrict, 120_000, func(n int) string { // in the name of a member, that of a definition, an enum and a constant
			return `{"type":"object","properties":{"äöü":{"$ref":"#/$defs/D"},"b":` + enum(250, n-3-1-1-1-40_000) + `,"c":{"const":"` + strings.Repeat("é", 40_000) + `"}},` +
				`"$defs":{"D":{"type":"string"}}}`
		}, "(root): properties: refused: the schema has %d characters in names and listed values, a strict one may have %d"},
		{dialect.AnthropicStrict, 24, func(n int) string { return many(n, `{"type":"string"}`) }, "(root): required: refused: the schema has %d members that may be left out, a strict one may have %d"},
		{dialect.AnthropicStrict, 16, func(n int) string { return many(n, `{"type":["string","null"]}`) }, "(root): anyOf: refused: the schema has %d unions, a strict one may have %d"},
	} {
		s, _ := rewrite(t, c.make(c.most), c.d)
		assert.True(t, s.Strict, "%v: %d: %v", c.d, c.most, s.Notes)
		s, notes := rewrite(t, c.make(c.most+1), c.d)
		assert.False(t, s.Strict, "%v: %d", c.d, c.most+1)
		assert.Contains(t, notes, fmt.Sprintf(c.why, c.most+1, c.most))
	}
}
