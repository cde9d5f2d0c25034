package wire_test

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// An envelope has a name that is read and an input that is not.
type envelope struct {
	name  string
	input []byte
}

func (e *envelope) ReadMember(r *wire.Reader, name string) {
	switch name {
	case "name":
		wire.ReadString(r, &e.name, nil)
	case "input":
		wire.ReadVerbatim(r, &e.input)
	}
}

var envelopeRule = wire.ObjectRule{Names: []string{"name", "input"}, Required: 1}

func open(text string) (*envelope, []wire.Violation) {
	return wire.Decode[envelope]([]byte(text), wire.Limits{Size: math.MaxInt}, &envelopeRule)
}

// SEMANTICS 7.1.4
func TestVerbatim(t *testing.T) {
	deep := strings.Repeat("[", 100_000)
	for _, input := range []string{
		`{}`, `null`, `1`, `NaN`, `1e999`, `"}, \" ,"`, `{"a": 1, "a": 2}`, `[}`, `"\ud800"`, "\x01", "\xff", `{} x`, `'a'`,
		`{"a": [1, {"b": "]"}], "name": "u"}`, deep + strings.Repeat("]", 100_000),
	} {
		for _, text := range []string{
			`{"name": "t", "input": ` + input + ` }`,
			`{"input":` + input + `,"name":"t"}`,
		} {
			e, bad := open(text)
			require.Empty(t, bad, text)
			require.Equal(t, &envelope{"t", []byte(input)}, e, text)
		}
	}
}

func TestVerbatimWithoutEnd(t *testing.T) {
	for text, want := range map[string]string{
		`{"name": "t", "input": {}`:                   `/input: json: want "," or "}", have the end of the text`,
		`{"name": "t", "input": {"a": "}`:             `/input: json: want a value that ends, have one that does not`,
		`{"name": "t", "input": "a\`:                  `/input: json: want "," or "}", have the end of the text`,
		`{"name": "t", "input": }`:                    `/input: json: want a value, have character '}'`,
		`{"name": "t", "input": ]}`:                   `/input: json: want a value, have character ']'`,
		`{"name": "t", "input": NaN]`:                 `/input: json: want "," or "}", have character ']'`,
		`{"name": "t", "input": NaN, "input": 1}`:     `/input: duplicate: want every member once, have "input" again`,
		`{"input": NaN, "NAME": "u", "name": "t"}`:    `/NAME: additionalProperties: want only "name", "input"; did you mean "name"?, have "NAME"`,
		`{"input": [}, "name": 1}`:                    `/name: type: want string, have number`,
		`{"input": ` + strings.Repeat("[", 1_000_000): `/input`,
	} {
		e, bad := open(text)
		require.Nil(t, e)
		require.Len(t, bad, 1, text[:min(len(text), 100)])
		require.Contains(t, bad[0].String(), want)
	}
}

// FuzzVerbatim holds that no input can say anything about the envelope around it,
// and that one that is JSON is all of it kept.
func FuzzVerbatim(f *testing.F) {
	for _, input := range []string{`{}`, `1,"name":"u"`, `1}, {`, `"`, `[}`, `]`, `\`, `NaN`, `"\u0022"`, `{"a":[]}`} {
		f.Add([]byte(input))
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		for _, text := range []string{`{"name":"t","input":` + string(input) + `}`, `{"input":` + string(input) + `,"name":"t"}`} {
			e, bad := open(text)
			if bad == nil {
				require.Equal(t, "t", e.name)
				require.Equal(t, strings.Trim(string(input), " \n\t\r"), string(e.input))
			}
			if raw, wrong := wire.ParseRaw(input, wire.Limits{Size: math.MaxInt, Depth: 1000}); wrong == nil {
				require.Nil(t, bad)
				require.Equal(t, string(raw), string(e.input))
			}
		}
	})
}
