package backup_test

import (
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

	"github.com/ambit-tools/ambit/internal/battery"
	"github.com/ambit-tools/ambit/runtime/store/audit"
	"github.com/ambit-tools/ambit/runtime/store/backup"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// victimOf tells a process of this test what it is to do until it is killed.
const victimOf = "AMBIT_BACKUP_VICTIM"

func TestMain(m *testing.M) {
	if what := os.Getenv(victimOf); what != "" {
		if err := victim(what, os.Args[1], os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// victim writes to a store, backs it up or restores it.
func victim(what, file, path string) error {
	ctx := context.Background()
	switch what {
	case "work":
		a, err := openApp(ctx, path)
		if err != nil {
			return err
		}
		for range time.Tick(5 * time.Millisecond) {
			if err = errors.Join(err, a.work(ctx, 1)); err != nil {
				break
			}
		}
		return err
	case "backup":
		_, err := backup.Write(ctx, file, backup.Source{Store: path})
		return err
	}
	signer, err := audit.ReadSigner(file + ".audit")
	if err != nil {
		return err
	}
	_, err = backup.Restore(ctx, file, path, backup.Target{Restoration: why(), Signer: signer})
	return err
}

// start starts a victim.
func start(t *testing.T, what, file, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], file, path)
	cmd.Env = append(os.Environ(), victimOf+"="+what)
	require.NoError(t, cmd.Start())
	return cmd
}

// TestKills kills processes that back up a store in use, and that restore it. After each kill there
// is no backup or a whole one, and no store or a whole one that says that it was restored.
func TestKills(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	dir := t.TempDir()
	path := filepath.Join(dir, "var", "ambit.db")
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
	signer := used(t, path, 20)
	worker := start(t, "work", "", path)
	defer func() {
		_ = worker.Process.Kill()
		_ = worker.Wait()
	}()
	var backups, restores time.Duration
	last, stopped, between := "", 0, 0
	for i, kills := 0, battery.Count(t, 4, 200); stopped < kills; i++ {
		file := filepath.Join(dir, fmt.Sprint("backup", i))
		if !battery.Kill(t, r, &backups, start(t, "backup", file, path)) {
			stopped++
		}
		if _, err := os.Stat(file); err == nil {
			last = file
		} else {
			require.ErrorIs(t, err, fs.ErrNotExist)
		}
		key, err := os.ReadFile(path + ".audit")
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(last+".audit", key, 0o600))
		target := filepath.Join(dir, fmt.Sprint("restored", i), "ambit.db")
		if !battery.Kill(t, r, &restores, start(t, "restore", last, target)) {
			stopped++
		}
		if _, err := os.Stat(target); err != nil { // it was killed before the end
			if _, err := os.Stat(target + ".keys"); err == nil {
				_, err := sqlite.Open(target)
				require.ErrorIs(t, err, sqlite.ErrRolledBack, "no other store is begun in its place")
				between++
			}
			require.NoError(t, victim("restore", last, target))
		}
		kept, err := checkRestored(t.Context(), target, signer)
		require.NoError(t, errors.Join(err, os.RemoveAll(filepath.Dir(target))))
		require.GreaterOrEqual(t, kept, uint64(20))
	}
	t.Logf("%d kills, %d of them between the keys and the store", stopped, between)
}
