package wire_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// A number without a schema is bounded in an input, and not in a text of the program.
// SEMANTICS 7.2.2, 7.2.3
func TestNumbersWithoutASchema(t *testing.T) {
	for literal, fits := range map[string]bool{
		"0": true, "-0": true, "0e999999": true, "0.000e-99999": true,
		"9999999999999999999": true, "-9999999999999999999": true, "10000000000000000000": true, "10000000000000000001": false,
		"1234567890123456789e289": true, "0.1234567890123456789": true, "0.12345678901234567891": false,
		"100.000000000000000000000": true, "100.000000000000000000001": false, "100.00000000000000001": false, "100.0000000000000001": true,
		"1e308": true, "1e309": false, "10e307": true, "10e308": false, "0.1e309": true, "-1e308": true, "-1e309": false,
		"1e-308": true, "1e-309": false, "0.1e-307": true, "0.1e-308": false, "10e-309": true, "-1e-309": false,
		"1e10000000": false, "1e-10000000": false, "1e99999999999999999999": false, "1.7e308": true, "9e308": false,
	} {
		read := func(l wire.Limits) []wire.Violation {
			var r wire.Reader
			var v wire.Raw
			r.Reset([]byte(`{"a":[`+literal+`]}`), l)
			wire.ReadRaw(&r, &v, nil)
			return r.Finish()
		}
		bad := read(wire.Limits{})
		if fits {
			assert.Empty(t, bad, literal)
			continue
		}
		if assert.Len(t, bad, 1, literal) && literal != "9e308" {
			assert.Equal(t, "/a/0", bad[0].Pointer, literal)
			assert.Equal(t, "number", bad[0].Keyword, literal)
			assert.Equal(t, "a number of at most 19 significant digits with an exponent within ±308", bad[0].Expected)
			assert.Equal(t, literal, bad[0].Actual)
		}
	}
	var r wire.Reader
	var v wire.Raw
	r.Reset([]byte(`[100.000000000000000000001]`), wire.Limits{AnyNumber: true})
	wire.ReadRaw(&r, &v, nil)
	assert.Empty(t, r.Finish())

	// A secret number is not shown.
	r.Reset([]byte(`[100.000000000000000000001]`), wire.Limits{})
	wire.ReadRaw(&r, &v, &wire.RawRule{Sensitive: true})
	bad := r.Finish()
	assert.Len(t, bad, 1)
	assert.NotContains(t, bad[0].String(), "100.0")
}
