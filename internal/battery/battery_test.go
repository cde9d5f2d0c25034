package battery_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/internal/battery"
)

func TestCount(t *testing.T) {
	for _, c := range []struct {
		value string
		short bool
		want  int
	}{
		{"", false, 40}, {"", true, 10}, {"ci", false, 1000}, {"nightly", false, 10_000}, {"7", false, 7},
		{"ci", true, 1000}, {"7", true, 7},
	} {
		s, ok := battery.Parse(c.value, c.short)
		require.True(t, ok)
		require.Equal(t, c.want, s.Count(40, 1000), "%s, short %t", c.value, c.short)
	}
	s, _ := battery.Parse("", true)
	require.Equal(t, 1, s.Count(1, 1000), "never none")
	for _, value := range []string{"CI", "full", "-1", "0", "1e3"} {
		_, ok := battery.Parse(value, false)
		require.False(t, ok, value)
	}
}

// TestPicksAllInTenDays: each item has its day of ten, a night has them all.
func TestPicksAllInTenDays(t *testing.T) {
	plain, _ := battery.Parse("", false)
	ci, _ := battery.Parse("ci", false)
	nightly, _ := battery.Parse("nightly", false)
	perDay := make([]int, 10)
	for i := range 1000 {
		name := fmt.Sprint("mutant ", i)
		days := 0
		for d := range perDay {
			if ci.Picks(name, time.Unix(0, 0).AddDate(0, 0, 20_000+d)) {
				days++
				perDay[d]++
			}
		}
		require.Equal(t, 1, days, name)
		require.True(t, nightly.Picks(name, time.Now()))
		require.False(t, plain.Picks(name, time.Now()))
	}
	for d, n := range perDay {
		require.InDelta(t, 100, n, 50, "day %d", d)
	}
}

func TestVariable(t *testing.T) {
	t.Setenv(battery.Variable, "nightly")
	want := 50
	if battery.Race {
		want = 5
	}
	require.Equal(t, want, battery.Count(t, 1, 5))
	require.True(t, battery.Full(t))
	require.Contains(t, battery.Env("12"), "AMBIT_BATTERY=12")
	t.Setenv(battery.Variable, "")
	require.False(t, battery.Full(t))
	require.False(t, battery.Picks(t, "x"))
}
