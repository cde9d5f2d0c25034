package wire

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// secrets has every place in which a secret may be.
type secrets struct {
	S    string
	M    map[string]string
	Deep nestedSecret
}

type nestedSecret struct{ A string }

var (
	secretsRule = ObjectRule{Names: []string{"s", "m", "deep"}}
	secretText  = StringRule{Sensitive: true}
	secretMap   = ObjectRule{Open: true, Sensitive: true}
	secretDeep  = ObjectRule{Names: []string{"a"}, Sensitive: true}
	shortText   = StringRule{Has: Max, Max: 3}
)

func (v *secrets) ReadMember(r *Reader, name string) {
	switch name {
	case "s":
		ReadString(r, &v.S, &secretText)
	case "m":
		ReadMap(r, &v.M, &secretMap, ReadString, &shortText)
	case "deep":
		ReadObject(r, &v.Deep, &secretDeep)
	}
}

func (v *nestedSecret) ReadMember(r *Reader, name string) { ReadString(r, &v.A, &shortText) }

// TestSecretsStayOutOfViolations feeds wrong values in the places of secrets:
// neither a value nor a name that the text gives may be told.
func TestSecretsStayOutOfViolations(t *testing.T) {
	for _, text := range []string{
		`{"s":9e999}`,
		`{"s":{"hunter2":1,"hunter2":2}}`,
		`{"s":["hunter2",{"hunter2":9e999}]}`,
		`{"m":{"hunter2":"hunter2"}}`,
		`{"m":{"hunter2":1}}`,
		`{"m":{"hunter2":"a","hunter2":"b"}}`,
		`{"m":["hunter2"]}`,
		`{"deep":{"hunter2":1}}`,
		`{"deep":{"a":"hunter2"}}`,
		`{"deep":{"a":{"hunter2":1}}}`,
		`{"deep":"hunter2"}`,
	} {
		_, bad := Decode[secrets]([]byte(text), Limits{}, &secretsRule)
		require.NotEmpty(t, bad, text)
		for _, v := range bad {
			require.NotContains(t, v.String(), "hunter2", text)
			require.NotContains(t, v.String(), "9e999", text)
		}
	}
}

// TestLongNamesAreCut keeps what a text makes long out of messages.
func TestLongNamesAreCut(t *testing.T) {
	name := strings.Repeat("é", 20_000)
	deep := strings.Repeat(`{"`+name[:100]+`":`, 60) + `{"a":1,"a":2}` + strings.Repeat("}", 60)
	for _, text := range []string{`{"` + name + `":{"a":1,"a":1}}`, `{"x":` + deep + `}`} {
		_, bad := ParseRaw([]byte(text), Limits{})
		require.Len(t, bad, 1)
		require.Less(t, len(bad[0].Pointer), 1024)
		require.Contains(t, bad[0].Pointer, "…")
	}
}

// TestNumbersAreComparedAsWritten looks at literals that differ from a bound
// only in what a float64 does not hold.
// SEMANTICS 7.1.3, 7.1.5
func TestNumbersAreComparedAsWritten(t *testing.T) {
	atMost := &NumberRule{Has: Max, Max: 0.3}
	below := &NumberRule{Has: Max | ExclusiveMax, Max: 0.3}
	atLeast := &NumberRule{Has: Min, Min: -0.3}
	one := &NumberRule{Enum: []float64{0.1, 0.3}}
	for _, c := range []struct {
		text string
		rule *NumberRule
		ok   bool
	}{
		{"0.300000000000000000001", atMost, false},
		{"0.299999999999999999999", atMost, true},
		{"0.299999999999999999999", below, false}, // the handler would have 0.3
		{"0.29999999999999993", below, true},
		{"9007199254740993", &NumberRule{Has: Max, Max: 1 << 53, MaxText: "9007199254740993"}, true},
		{"9007199254740993", &NumberRule{Has: Min, Min: 1 << 53, MinText: "9007199254740993"}, false}, // it would have less
		{"9007199254740992", &NumberRule{Has: Min, Min: 1 << 53, MinText: "9007199254740993"}, false},
		{"9007199254740994", &NumberRule{Has: Min, Min: 1 << 53, MinText: "9007199254740993"}, true},
		{"9223372036854775808", &NumberRule{Has: Max, Max: 1 << 63, MaxText: "9223372036854775807"}, false},
		{"9007199254740993", &NumberRule{MultipleOf: "3"}, false}, // it would have a number that is none
		{"1e-401", &NumberRule{Has: Min | ExclusiveMin, MinText: "1e-400"}, false},
		{"0.300000000000000000000", below, false},
		{"0.300000000000000000000", atMost, true},
		{"-0.300000000000000000001", atLeast, false},
		{"-0.299999999999999999999", atLeast, true},
		{"0.300000000000000000001", one, false},
		{"30000000000000000000e-20", one, true},
	} {
		var r Reader
		var v float64
		r.Reset([]byte(c.text), Limits{})
		ReadFloat(&r, &v, c.rule)
		require.Equal(t, c.ok, r.Finish() == nil, c.text)
	}
}
