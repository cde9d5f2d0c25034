package lint

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/internal/rego/policydir"
	"github.com/ambit-tools/ambit/internal/rego/regotest"
)

// A member that a data file has twice is refused, with the place of both.
func TestDuplicateKeysOfData(t *testing.T) {
	const hint = " (remove one of them)"
	for _, test := range []struct{ text, want string }{
		{`{"limits": {"small": 1, "small": 2}}`, `acme/data.json:1:25: duplicate key "small", first in line 1` + hint},
		{"{\n  \"a\": 1,\n  \"b\": {},\n  \"a\": 1\n}", `acme/data.json:4:3: duplicate key "a", first in line 2` + hint},
		{`{"a": {}, "a": {"b": 1}}`, `acme/data.json:1:11: duplicate key "a", first in line 1` + hint},
		{`[{"a": 1}, {"b": [{"c": 1, "d": 2, "c": 3}]}]`, `acme/data.json:1:36: duplicate key "c", first in line 1` + hint},
		{"{\"a\": 1, \"\\u0061\": 2}", `acme/data.json:1:10: duplicate key "a", first in line 1` + hint},
		{`{"a": 1, "a": 2, "a": 3}`, "acme/data.json:1:10: duplicate key \"a\", first in line 1" + hint + "\n" +
			`acme/data.json:1:18: duplicate key "a", first in line 1` + hint},
		{`{"": 1, "": 2}`, `acme/data.json:1:9: duplicate key "", first in line 1` + hint},
	} {
		fsys := regotest.Dir("acme/data.json", test.text)
		assert.EqualError(t, checkDir(fsys), test.want, test.text)
	}
	for _, text := range []string{
		`{}`, `[]`, `null`, `1`, `"a"`, `{"a": {"a": {"a": 1}}, "b": {"a": 2}}`, `[{"a": 1}, {"a": 1}]`, `{"a": "a", "b": ["a", "a"]}`, `{"a": 1, "A": 2}`,
	} {
		assert.NoError(t, checkDir(regotest.Dir("acme/data.json", text)), text)
	}
	generated := string(regotest.Dir()[policydir.DeclaredFile].Data)
	err := checkDir(regotest.Dir(policydir.DeclaredFile, `{"set": "a",`+generated[1:]))
	assert.ErrorContains(t, err, `ambit_gen/data.json:2:3: duplicate key "set", first in line 1 (run go generate)`)
}
