package compact_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/internal/compact"
	"github.com/ambit-tools/ambit/runtime/wire"
)

var small = compact.Limits{String: 50, List: 4, Map: 3, Depth: 2, Total: 400}

func TestText(t *testing.T) {
	long := strings.Repeat("ä", 60)
	for name, c := range map[string]struct {
		in, want string
		limits   compact.Limits
	}{
		"within":             {`{"a":[1,2.50,true,null],"b":"x","c":{}}`, `{"a":[1,2.5,true,null],"b":"x","c":{}}`, small},
		"a string":           {`"` + long + `"`, `"` + strings.Repeat("ä", 28) + `… (32 more characters)"`, small},
		"a string that fits": {`"` + long[:100] + `"`, `"` + long[:100] + `"`, small},
		"a list":             {`[1,2,3,4,5]`, `[1,2,3,"… (2 more elements)"]`, small},
		"a list of values":   {`[[1],[2],[3],[[4]],[[5]],{}]`, `[[1],[2],[3],"… (3 more elements)"]`, small},
		"a list that fits":   {`[1,2,3,4]`, `[1,2,3,4]`, small},
		"a map":              {`{"a":1,"b":{"x":1},"c":[3],"d":{"y":[4]}}`, `{"a":1,"b":{"x":1},"…":"(2 more members)"}`, small},
		"a map that fits":    {`{"a":1,"b":2,"c":3}`, `{"a":1,"b":2,"c":3}`, small},
		"our own name":       {`{"…":1,"……":2,"c":3,"d":4}`, `{"…":1,"……":2,"………":"(2 more members)"}`, small},
		"depth": {
			`[{"a":{"b":[1],"c":2},"d":[[1,2],[]]},[3]]`,
			`[{"a":"… (object with 2 members)","d":"… (array with 2 elements)"},[3]]`, small,
		},
		"one of something": {`[[[1]],[{"a":1}]]`, `[["… (array with 1 element)"],["… (object with 1 member)"]]`, small},
		"a long name": {
			`{"` + strings.Repeat("n", 201) + `":{"a":[1]},"` + strings.Repeat("n", 200) + `":1}`,
			`{"` + strings.Repeat("n", 200) + `":1,"…":"(1 more member)"}`, small,
		},
		"digits":           {`[0.` + strings.Repeat("12", 40) + `]`, `["… (number with 84 characters)"]`, small},
		"nothing is met":   {`{"a":[1]}`, `"… (object with 1 member)"`, compact.Limits{}},
		"in all":           {`[` + quoted(50, 50, 50, 50, 50, 50, 50) + `]`, `["` + strings.Repeat("a", 50) + `","` + strings.Repeat("b", 50) + `","` + strings.Repeat("c", 50) + `","… (4 more elements)"]`, small},
		"half of the rest": {`[` + quoted(400, 400, 400) + `]`, "", compact.Limits{String: 400, List: 9, Map: 9, Depth: 9, Total: 700}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := compact.Text(wire.Raw(c.in), c.limits)
			require.NoError(t, err)
			if c.want == "" {
				c.want = `["` + cut("a", 200, 400) + `","` + cut("b", 200, 400) + `","` + cut("c", 200, 400) + `"]`
			}
			assert.Equal(t, c.want, string(got))
		})
	}
}

// quoted returns strings of lengths, of a different letter each.
func quoted(lengths ...int) string {
	var list []string
	for i, n := range lengths {
		list = append(list, `"`+strings.Repeat(string(rune('a'+i)), n)+`"`)
	}
	return strings.Join(list, ",")
}

// cut returns what is left of n times a letter.
func cut(letter string, limit, n int) string {
	room := limit - utf8.RuneCountInString(fmt.Sprintf("… (%d more characters)", n))
	return strings.Repeat(letter, room) + fmt.Sprintf("… (%d more characters)", n-room)
}

func TestTextRefusesWhatIsNoValue(t *testing.T) {
	_, err := compact.Text(wire.Raw(`{"a":`), small)
	assert.ErrorContains(t, err, "the value has no JSON form")
}

// SEMANTICS 8.1.15
func TestDefaultLimits(t *testing.T) {
	assert.Equal(t, compact.Limits{String: 3000, List: 200, Map: 80, Depth: 4, Total: 12000}, compact.Default())
	in := `{"content":"` + strings.Repeat("x", 1<<20) + `"}`
	got, err := compact.Text(wire.Raw(in), compact.Default())
	require.NoError(t, err)
	var out struct{ Content string }
	require.NoError(t, json.Unmarshal(got, &out))
	assert.Equal(t, 3000, utf8.RuneCountInString(out.Content))
}

func FuzzText(f *testing.F) {
	for _, in := range []string{
		`{"a":[1,2.50,true,null],"b":"x","c":{}}`, `[[[[[[1]]]]]]`, `"` + strings.Repeat("\\u0001", 90) + `"`, `{"…":1,"……":2,"c":3,"d":4}`,
		`[` + quoted(50, 50, 50, 50) + `]`, `{"` + strings.Repeat("n", 201) + `":1}`, `"` + strings.Repeat("😀", 60) + `"`,
		strings.Repeat(`[[1,2],`, 20) + `3` + strings.Repeat(`]`, 20), `0.` + strings.Repeat("1", 60), `0.10000000000000000000000000001`, ` 7 `,
		`{"a":"` + strings.Repeat("a", 1000) + `","b":"` + strings.Repeat("b", 100) + `"}`,
	} {
		f.Add([]byte(in), uint8(50), uint8(4), uint8(3), uint8(2), uint16(300))
		f.Add([]byte(in), uint8(0), uint8(0), uint8(0), uint8(0), uint16(0))
		f.Add([]byte(in), uint8(200), uint8(200), uint8(200), uint8(200), uint16(500))
	}
	f.Fuzz(func(t *testing.T, in []byte, str, list, members, depth uint8, total uint16) {
		raw, violations := wire.ParseRaw(in, wire.Limits{Size: 1 << 16, Number: 1 << 10})
		if violations != nil {
			return
		}
		l := compact.Limits{String: int(str), List: int(list), Map: int(members), Depth: int(depth), Total: int(total)}
		once, err := compact.Text(raw, l)
		require.NoError(t, err)
		again, err := compact.Text(raw, l)
		require.NoError(t, err)
		require.Equal(t, string(once), string(again), "deterministic")
		_, violations = wire.ParseRaw(once, wire.Limits{Size: 1 << 18})
		require.Empty(t, violations, "%s", once)
		require.LessOrEqual(t, utf8.RuneCount(once), max(l.Total, 256))
		met := &meter{limits: l}
		wire.Raw(once).Walk(met)
		require.Empty(t, met.broken, "%s", once)
		twice, err := compact.Text(wire.Raw(once), l)
		require.NoError(t, err)
		require.Equal(t, string(once), string(twice), "idempotent")

		met = &meter{limits: l}
		raw.Walk(met)
		plain, violations := wire.Append(nil, raw)
		require.Empty(t, violations)
		if met.broken == "" && utf8.RuneCount(plain) <= l.Total {
			require.Equal(t, string(plain), string(once), "what is within the limits is not touched")
		}
	})
}

// A meter finds what is beyond the limits.
type meter struct {
	limits compact.Limits
	counts []int
	object []bool
	broken string
}

func (m *meter) Visit(t wire.Token) {
	n := len(m.counts)
	if t.Kind != wire.KindEnd && n > 0 && m.object[n-1] == (t.Kind == wire.KindName) {
		m.counts[n-1]++
		m.most("list or map", m.counts[n-1], map[bool]int{true: m.limits.Map, false: m.limits.List}[m.object[n-1]], 1)
	}
	switch t.Kind {
	case wire.KindObject, wire.KindArray:
		m.counts, m.object = append(m.counts, 0), append(m.object, t.Kind == wire.KindObject)
		m.most("depth", len(m.counts), m.limits.Depth, 0)
	case wire.KindEnd:
		m.counts, m.object = m.counts[:n-1], m.object[:n-1]
	case wire.KindString:
		m.most("string", utf8.RuneCountInString(t.Str), m.limits.String, 42)
	case wire.KindName:
		m.most("name", utf8.RuneCountInString(t.Str), 200, 200)
	case wire.KindFloat:
		m.most("number", len(t.Str), 32, 32)
	}
}

func (m *meter) most(what string, n, limit, least int) {
	if limit = max(limit, least); n > limit && m.broken == "" {
		m.broken = fmt.Sprintf("%s: %d, at most %d", what, n, limit)
	}
}

func BenchmarkText(b *testing.B) {
	for name, in := range map[string]string{
		"long string":   `{"content":"` + strings.Repeat("x", 1<<20) + `"}`,
		"many elements": `[` + strings.Repeat(`{"path":"a/b/c.go","line":17,"text":"some words of a file"},`, 16000) + `1]`,
		"numbers":       `[` + strings.Repeat(`[`+strings.Repeat("1,", 250)+`1],`, 2000) + `1]`,
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				if _, err := compact.Text(wire.Raw(in), compact.Default()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
