package inbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/oslock"
)

// The names in the directory of an inbox.
const (
	tempPrefix = "tmp-"
	suffix     = ".command"
	servedName = "served" // locked by the process that imports
)

// ErrNoInbox says that no process has ever served an inbox of the store. It is found
// with errors.Is.
var ErrNoInbox = errors.New("no application has ever served an inbox of this store: it has to call inbox.Serve, in package runtime/host/inbox, once")

// Put gives a command to the executor of a store, now or when there is one, and
// returns when it would outlive a crash. It sets the nonce of c, by which its
// result is found in the journal, the time, and the user of this process.
//
// The error is [fs.ErrPermission] when this user may not read the keys of the
// store, or not write its inbox, and [ErrNoInbox] when there is none.
func Put(ctx context.Context, s Store, c *Command) error {
	key, err := s.Key(ctx, keyName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the store %q: %w", s.Path(), ErrNoInbox)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("the command cannot be signed: only who can read the keys of the store may give one: %w", err)
	case err != nil:
		return fmt.Errorf("the command cannot be signed: %w", err)
	}
	if c.By, err = currentUser(); err != nil {
		return fmt.Errorf("the command is in nobody's name: %w", err)
	}
	c.Nonce, c.At = rand.Text(), time.Now().UTC().Round(0)
	text, err := seal(key, c)
	if err == nil {
		err = checkDir(Dir(s))
	}
	if err == nil {
		err = deliver(Dir(s), fmt.Sprintf("%020d-%s%s", c.At.UnixNano(), c.Nonce, suffix), text)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the store %q: %w", s.Path(), ErrNoInbox)
	}
	if err != nil {
		return fmt.Errorf("the command cannot be put into the inbox: %w", err)
	}
	return nil
}

// checkDir refuses what is no directory, and one into which all users may write.
func checkDir(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%q is no directory: move it away", dir)
	}
	return checkMode(info)
}

// deliver makes a file in a directory, of which there is nothing or all. The directory
// may belong to another user, who has to be able to read the file. The mode of the
// directory keeps all further users out.
func deliver(dir, name string, text []byte) (err error) {
	f, err := os.CreateTemp(dir, tempPrefix+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if _, err = f.Write(text); err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err = os.Rename(f.Name(), filepath.Join(dir, name)); err != nil {
		return err
	}
	return oslock.SyncDir(dir)
}

// Served reports whether a process imports the commands of the inbox of a store
// now.
func Served(s Store) (bool, error) {
	f, err := os.Open(filepath.Join(Dir(s), servedName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("see whether the inbox is served: %w", err)
	}
	// The lock is taken for a moment. A Server tries again until it has it.
	held, err := oslock.LockShared(f)
	return held, errors.Join(err, f.Close())
}
