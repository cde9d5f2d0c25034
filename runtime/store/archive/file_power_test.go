package archive

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/internal/simfs"
)

// TestPower cuts the power at every operation of a Write. A segment whose Write has returned is there and
// whole, one whose Write has not is whole or not there, and another Write succeeds.
func TestPower(t *testing.T) {
	s := newStore(t, 1500)
	h := s.header(t, 1, 1500)
	cuts := 0
	for seed := range battery.Count(t, 20, 400) {
		for cut := 1; ; cut++ {
			d := simfs.New(uint64(seed)<<8 + uint64(cut))
			d.CutAfter(cut)
			_, err := writeFile(t.Context(), d.Root(), "s", "s", h, s)
			done := err == nil
			d.Crash()
			f, err := open(d.Root(), "s", "s")
			switch {
			case err == nil:
				require.NoError(t, f.Prove(t.Context()), "seed %d, cut %d", seed, cut)
				require.NoError(t, f.Close())
			case done || !errors.Is(err, fs.ErrNotExist):
				t.Fatalf("seed %d, cut %d: done %t: %v", seed, cut, done, err)
			default:
				_, err = writeFile(t.Context(), d.Root(), "s", "s", h, s)
				require.NoError(t, err)
			}
			if done {
				break
			}
			cuts++
		}
	}
	require.NotZero(t, cuts)
}
