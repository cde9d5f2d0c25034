//go:build unix

package inbox_test

import (
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/host/inbox"
)

// TestWhatIsNoFileHoldsNothingUp puts names into the inbox that stand for no
// file: to open a FIFO that has no writer waits for one.
func TestWhatIsNoFileHoldsNothingUp(t *testing.T) {
	t.Chdir(t.TempDir()) // the name of a socket is short
	s, to, said := &store{path: "a", key: make([]byte, 32)}, &importer{got: make(chan inbox.Command, 10)}, newLog()
	require.NoError(t, os.Mkdir(inbox.Dir(s), 0o700))
	require.NoError(t, syscall.Mkfifo(filepath.Join(inbox.Dir(s), "0-fifo.command"), 0o600))
	l, err := net.Listen("unix", filepath.Join(inbox.Dir(s), "0-socket.command"))
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	target := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, syscall.Mkfifo(target, 0o600))
	require.NoError(t, os.Symlink(target, filepath.Join(inbox.Dir(s), "0-link.command")))
	good := inbox.Command{Kind: inbox.CommandDeny, Request: "q"}
	require.NoError(t, inbox.Put(t.Context(), s, &good))

	stop := serve(t, s, to, inbox.WithReport(said.add))
	assert.Equal(t, good.Nonce, (<-to.got).Nonce, "what came after them")
	stop()
	assert.Len(t, said.lines, 3)
	for _, line := range said.lines {
		assert.Contains(t, line, "it is no file")
	}
}
