package archive_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/ambit-tools/ambit/internal/battery"
)

// victimOf tells a process of this test which store it is to archive until it is killed.
const victimOf = "AMBIT_ARCHIVE_VICTIM"

func TestMain(m *testing.M) {
	if path := os.Getenv(victimOf); path != "" {
		if err := victim(path, os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// victim archives.
func victim(path, to string) error {
	ctx := context.Background()
	a, err := openApp(ctx, path)
	if err != nil {
		return err
	}
	fmt.Println("open") // the kills are for what follows
	_, err = a.archive(ctx, to, began.Add(1000*time.Hour), time.Time{})
	return errors.Join(err, a.close(ctx))
}

// TestKills kills processes that archive. After each kill the store has all of its entries, or the segment has the first ones and the
// store the entries behind them; what a session is has not changed, and the next archive succeeds.
func TestKills(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.db")
	a, sizes := filled(t, path, 400)
	want := a.read(t, "s").References()
	require.NoError(t, a.close(t.Context()))
	rng := rand.New(rand.NewPCG(1, 2))
	last, before, after, file := time.Duration(0), 0, 0, 0
	for i, kills := 0, battery.Count(t, 4, 200); before+after < kills; i++ {
		own := filepath.Join(dir, fmt.Sprint("copy", i))
		require.NoError(t, os.Mkdir(own, 0o700))
		for _, end := range []string{"", ".keys", ".audit", ".audit.pub", ".anchor"} {
			data, err := os.ReadFile(path + end)
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(own, "a.db"+end), data, 0o600))
		}
		store, to := filepath.Join(own, "a.db"), filepath.Join(own, "1.segment")
		whole := killed(t, rng, &last, store, to)
		a, err := openApp(t.Context(), store)
		require.NoError(t, err)
		low, err := a.store.Archived(t.Context())
		require.NoError(t, err)
		_, there := os.Stat(to)
		switch {
		case low >= sizes[2]: // the end of a run makes a checkpoint, which may come an entry later
			require.NoError(t, there)
		case low == 0 && !whole:
			if there == nil {
				file++
			} else {
				require.ErrorIs(t, there, fs.ErrNotExist)
			}
		default:
			t.Fatalf("the lower end is %d, and the process ended by itself: %t", low, whole)
		}
		require.Equal(t, want, a.read(t, "s").References())
		if low == 0 {
			_, err := a.archive(t.Context(), to, began.Add(1000*time.Hour), time.Time{})
			require.NoError(t, err)
			before++
		} else if !whole {
			after++
		}
		require.NoError(t, a.store.Sweep(t.Context()))
		require.NoError(t, a.close(t.Context()))
		verified(t, a, to)
		require.NoError(t, os.RemoveAll(own))
	}
	t.Logf("%d kills before the archive, %d of them when the segment had its name, and %d after it", before, file, after)
}

// killed runs a victim and kills it after a part of the time that the last one took that was not killed.
// It reports whether it ended by itself.
func killed(t *testing.T, rng *rand.Rand, last *time.Duration, store, to string) (whole bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0], to)
	cmd.Env = append(os.Environ(), victimOf+"="+store)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return battery.Kill(t, rng, last, cmd)
}
