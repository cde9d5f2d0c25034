package inbox_test

import (
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/host/inbox"
)

// never is longer than a test: what happens in spite of it was not found by the poll.
const never = 24 * time.Hour

// put puts a denial of a request into the inbox.
func put(t *testing.T, s *store, request string) {
	t.Helper()
	require.NoError(t, inbox.Put(t.Context(), s, &inbox.Command{Kind: inbox.CommandDeny, Request: request}))
}

// TestEventsBringCommands has commands that only the operating system can report.
func TestEventsBringCommands(t *testing.T) {
	s, to := newStore(t), &importer{got: make(chan inbox.Command, 1)}
	serve(t, s, to, inbox.WithPoll(never))
	for i := range 20 {
		put(t, s, fmt.Sprint(i))
		assert.Equal(t, fmt.Sprint(i), (<-to.got).Request)
	}
}

// TestThePollBringsCommands has a system that does not watch, such as one whose limit of watches is
// reached.
func TestThePollBringsCommands(t *testing.T) {
	s, to, said := newStore(t), &importer{got: make(chan inbox.Command, 1)}, newLog()
	limit := func() (*fsnotify.Watcher, error) { return nil, errors.New("too many open files") }
	serve(t, s, to, inbox.WithReport(said.add), inbox.WithWatch(limit), inbox.WithPoll(time.Millisecond))
	<-said.more
	assert.Contains(t, said.String(), "the operating system does not watch the inbox")
	assert.Contains(t, said.String(), "too many open files")
	for i := range 5 {
		put(t, s, fmt.Sprint(i))
		assert.Equal(t, fmt.Sprint(i), (<-to.got).Request)
	}
}

// TestLostEventsLoseNoCommand takes the watch from the directory, so that the system reports nothing
// but that it has dropped events. That the directory was replaced is among them.
func TestLostEventsLoseNoCommand(t *testing.T) {
	s, to := newStore(t), &importer{got: make(chan inbox.Command, 2)}
	watches := make(chan *fsnotify.Watcher, 2)
	serve(t, s, to, inbox.WithPoll(never), inbox.WithWatch(func() (*fsnotify.Watcher, error) {
		w, err := fsnotify.NewWatcher()
		watches <- w
		return w, err
	}))
	put(t, s, "1")
	assert.Equal(t, "1", (<-to.got).Request) // the first look is over
	w := <-watches
	require.NoError(t, w.Remove(inbox.Dir(s)))
	require.NoError(t, os.Rename(inbox.Dir(s), inbox.Dir(s)+".old"))
	require.NoError(t, os.Mkdir(inbox.Dir(s), 0o700))
	put(t, s, "2")
	w.Errors <- fsnotify.ErrEventOverflow
	assert.Equal(t, "2", (<-to.got).Request)
	served, err := inbox.Served(s)
	require.NoError(t, err)
	assert.True(t, served, "the lock is in the new directory")
	put(t, s, "3")
	assert.Equal(t, "3", (<-to.got).Request)
}

// TestReplacedDirectoriesAreServed moves the directory away and makes another one: commands that are
// put there arrive, and the processes that put them see that it is served.
func TestReplacedDirectoriesAreServed(t *testing.T) {
	s, to, said := newStore(t), &importer{got: make(chan inbox.Command, 1)}, newLog()
	serve(t, s, to, inbox.WithReport(said.add), inbox.WithPoll(time.Millisecond))
	for round := range 3 {
		require.NoError(t, os.Rename(inbox.Dir(s), fmt.Sprint(inbox.Dir(s), round)))
		<-said.more
		assert.Contains(t, said.String(), "is not served until this is mended")
		require.NoError(t, os.Mkdir(inbox.Dir(s), 0o700))
		put(t, s, fmt.Sprint(round))
		assert.Equal(t, fmt.Sprint(round), (<-to.got).Request)
		served, err := inbox.Served(s)
		require.NoError(t, err)
		assert.True(t, served)
	}
	assert.Len(t, said.more, 0, "each was reported once")
}

// TestADirectoryForAllUsersIsNotServed opens the directory to all users while it is served.
func TestADirectoryForAllUsersIsNotServed(t *testing.T) {
	if os.PathSeparator == '\\' {
		t.Skip("Windows has no such modes")
	}
	s, to, said := newStore(t), &importer{got: make(chan inbox.Command, 1)}, newLog()
	serve(t, s, to, inbox.WithReport(said.add), inbox.WithPoll(time.Millisecond))
	require.NoError(t, os.Chmod(inbox.Dir(s), 0o777))
	<-said.more
	assert.Contains(t, said.String(), "everybody may write to it")
	require.NoError(t, os.Chmod(inbox.Dir(s), 0o700))
	put(t, s, "1")
	assert.Equal(t, "1", (<-to.got).Request)
}
