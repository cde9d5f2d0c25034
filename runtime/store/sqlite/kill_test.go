package sqlite_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// childStore names the store that a child process of the tests writes.
const childStore = "AMBIT_TEST_STORE"

// TestChild is not a test but the process that TestKill kills: it appends, and
// says after each append how many entries were acknowledged.
func TestChild(t *testing.T) {
	path := os.Getenv(childStore)
	if path == "" {
		return
	}
	s, err := sqlite.Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	for seq := s.Health().Head; ; seq += 2 {
		if err := s.Append(t.Context(), []journal.Entry{entry(seq+1, 300), entry(seq+2, 300)}); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println("acknowledged", seq+2)
	}
}

func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	for cycle := range 4 {
		child := exec.Command(os.Args[0], "-test.run=^TestChild$")
		child.Env = append(os.Environ(), childStore+"="+path)
		out, err := child.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, child.Start())
		acked, lines, last := uint64(0), bufio.NewScanner(out), ""
		for n := 0; lines.Scan(); n++ {
			last = lines.Text()
			var seq string
			if k, _ := fmt.Sscanf(last, "acknowledged %s", &seq); k == 1 {
				acked, err = strconv.ParseUint(seq, 10, 64)
				require.NoError(t, err)
			}
			if n == 20+7*cycle {
				_, err := sqlite.Open(path)
				require.ErrorIs(t, err, sqlite.ErrOwned)
				require.ErrorContains(t, err, fmt.Sprintf("process %d on", child.Process.Pid))
				require.NoError(t, child.Process.Kill())
			}
		}
		require.Error(t, child.Wait())
		require.NotZero(t, acked, last)

		s, err := sqlite.Open(path)
		require.NoError(t, err)
		list, err := s.Read(t.Context(), 0, 1<<20)
		require.NoError(t, err)
		require.GreaterOrEqual(t, uint64(len(list)), acked)
		require.Zero(t, len(list)%2)
		for i := range list {
			require.Equal(t, entry(uint64(i+1), 300).Leaf, list[i].Leaf)
		}
		require.NoError(t, s.Close())
	}
}
