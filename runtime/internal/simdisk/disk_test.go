package simdisk_test

import (
	"database/sql"
	"errors"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	_ "modernc.org/sqlite"

	"github.com/ambit-tools/ambit/runtime/internal/simdisk"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newDisk(t *testing.T, seed uint64) *simdisk.Disk {
	d, err := simdisk.New(seed)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func connect(t *testing.T, d *simdisk.Disk, synchronous string) *sql.DB {
	db, err := sql.Open("sqlite", "file:/db?vfs="+d.VFS()+"&_pragma=journal_mode(WAL)&_pragma=synchronous("+synchronous+")")
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	return db
}

// lost counts in how many of a hundred crashes a committed row is lost.
func lost(t *testing.T, synchronous string) (n int) {
	d := newDisk(t, 0)
	for seed := range uint64(100) {
		d.Reset(seed, nil)
		db := connect(t, d, synchronous)
		_, err := db.Exec("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
		require.NoError(t, err)
		d.Crash()
		require.NotNil(t, db)
		_ = db.Close()
		db = connect(t, d, "FULL")
		var rows int
		if err := db.QueryRow("SELECT count(*) FROM t").Scan(&rows); err != nil || rows == 0 {
			n++
		}
		require.NoError(t, db.Close())
	}
	return n
}

func TestWhatIsNotSyncedIsLost(t *testing.T) {
	assert.Zero(t, lost(t, "FULL"))
	assert.Greater(t, lost(t, "NORMAL"), 20)
	assert.Greater(t, lost(t, "OFF"), 20)
}

func TestFaults(t *testing.T) {
	for fault, text := range map[simdisk.Fault]string{
		simdisk.PowerCut: "disk I/O error", simdisk.WriteFail: "disk I/O error", simdisk.SyncFail: "disk I/O error", simdisk.Full: "full",
	} {
		d := newDisk(t, 1)
		db := connect(t, d, "FULL")
		_, err := db.Exec("CREATE TABLE t (a)")
		require.NoError(t, err)
		d.Inject(fault, 1)
		_, err = db.Exec("INSERT INTO t VALUES (1)")
		require.ErrorContains(t, err, text)
		assert.Equal(t, 1, d.Failed())
		d.Crash()
		_ = db.Close()
	}
}

func TestFilesBesideTheDatabase(t *testing.T) {
	d := newDisk(t, 1)
	_, err := d.Read("keys", 0, 9)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, d.Write("keys", []byte("one")))
	d.Inject(simdisk.WriteFail, 1)
	require.Error(t, d.Write("keys", []byte("two")))
	d.Crash()
	data, err := d.Read("keys", 0, 2)
	require.NoError(t, err)
	assert.Equal(t, "on", string(data))

	unlock, _, err := d.Lock("lock", []byte("me"))
	require.NoError(t, err)
	again, holder, err := d.Lock("lock", []byte("you"))
	require.NoError(t, err)
	assert.Nil(t, again)
	assert.Equal(t, "me", string(holder))
	d.Crash() // ends the process that has it
	_, _, err = d.Lock("lock", []byte("you"))
	require.NoError(t, errors.Join(err, unlock()))
	_, holder, err = d.Lock("lock", []byte("they"))
	require.NoError(t, err)
	assert.Equal(t, "you", string(holder), "who died unlocks nothing")
}
