package wire_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// literal makes a random number literal, often an integer near the edge of int64.
func literal(rnd *rand.Rand) string {
	digits := fmt.Sprint(rnd.Uint64() >> rnd.IntN(64))
	if digits != "0" {
		digits += strings.Repeat("0", rnd.IntN(3))
	}
	if p := rnd.IntN(len(digits) + 1); p > 0 && p < len(digits) {
		digits = digits[:p] + "." + digits[p:]
	}
	if rnd.IntN(2) == 0 {
		digits += fmt.Sprintf("e%d", rnd.IntN(44)-22)
	}
	if rnd.IntN(3) == 0 {
		digits = "-" + digits
	}
	return digits
}

// TestDecimalsAgainstRat compares the arithmetic on digits with that of package big.
func TestDecimalsAgainstRat(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	integers, multiples := 0, 0
	for range 20_000 {
		lit := literal(rnd)
		exact, ok := new(big.Rat).SetString(lit)
		require.True(t, ok, lit)
		v, bad := read(lit, wire.ReadInt, nil)
		if exact.IsInt() && exact.Num().IsInt64() {
			integers++
			require.Empty(t, bad, lit)
			require.Equal(t, exact.Num().Int64(), v, lit)
		} else {
			require.Len(t, bad, 1, lit)
			require.Equal(t, exact.IsInt(), !strings.Contains(bad[0], "type"), lit)
		}

		of := []string{"0.01", "3", "2.5", "1e-20", "7e3", "0.0007", "123456789012345678901234567890"}[rnd.IntN(7)]
		divisor, _ := new(big.Rat).SetString(of)
		_, bad = read(lit, wire.ReadFloat, &wire.NumberRule{MultipleOf: of})
		multiple := new(big.Rat).Quo(exact, divisor).IsInt()
		if multiple {
			multiples++
			f, _ := exact.Float64()
			rounded, _ := new(big.Rat).SetString(wire.FormatFloat(f))
			multiple = len(lit) <= 15 || new(big.Rat).Quo(rounded, divisor).IsInt() // the handler has the float64
		}
		require.Equal(t, multiple, bad == nil, "%s of %s", lit, of)
	}
	assert.Greater(t, integers, 2000)
	assert.Greater(t, multiples, 2000)
}
