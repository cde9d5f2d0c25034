package inbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/ambit-tools/ambit/runtime/internal/oslock"
)

// A folder is the directory of an inbox as its Server holds it: the file that says that the inbox
// is served, open and locked, and the watch of the operating system. Only the goroutine that looks
// into the directory uses it.
type folder struct {
	dir      string
	newWatch func() (*fsnotify.Watcher, error)
	report   func(error) // is told of what the inbox works without: the watch, the lock

	served *os.File          // nil: the directory is not held
	locked bool              // Served says so; another process may hold the lock for a moment, in Served
	watch  *fsnotify.Watcher // nil: the operating system does not watch the directory
}

// hold makes sure that f holds the directory that has its name now. It is another one after the
// directory was replaced. The held file decides, because an open file keeps its identity, whereas a
// new directory can get the number of one that was removed.
func (f *folder) hold() error {
	if err := checkDir(f.dir); err != nil {
		return errors.Join(err, f.release())
	}
	name := filepath.Join(f.dir, servedName)
	if !f.holds(name) {
		if err := f.release(); err != nil {
			return err
		}
		file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return err
		}
		f.served = file
		if err := f.observe(); err != nil {
			f.report(fmt.Errorf("the operating system does not watch the inbox %q, which is looked into now and then instead: %w", f.dir, err))
		}
	}
	if !f.locked {
		held, err := oslock.Lock(f.served)
		if f.locked = err != nil || !held; err != nil {
			f.report(fmt.Errorf("other processes will think that the inbox %q is not served: %w", f.dir, err))
		}
	}
	return nil
}

// holds reports whether the file that f has open is the one of the name.
func (f *folder) holds(name string) bool {
	if f.served == nil {
		return false
	}
	mine, err := f.served.Stat()
	if err != nil {
		return false
	}
	there, err := os.Lstat(name)
	return err == nil && os.SameFile(mine, there)
}

// observe asks the operating system to watch the directory.
func (f *folder) observe() error {
	w, err := f.newWatch()
	if err != nil {
		return err
	}
	if err := w.Add(f.dir); err != nil {
		return errors.Join(err, w.Close())
	}
	f.watch = w
	return nil
}

// release ends the watch and gives up the lock.
func (f *folder) release() (err error) {
	if f.watch != nil {
		err = f.watch.Close()
	}
	if f.served != nil {
		err = errors.Join(err, f.served.Close())
	}
	f.watch, f.served, f.locked = nil, nil, false
	return err
}

// wait returns when there is a reason to look into the directory again, false after stop. What an
// event says does not matter beyond that: each look is at the whole directory, so that events that
// the system has dropped lose no command.
func (f *folder) wait(stop <-chan struct{}, poll <-chan time.Time) bool {
	var changed <-chan fsnotify.Event
	var failed <-chan error
	if f.watch != nil {
		changed, failed = f.watch.Events, f.watch.Errors
	}
	for {
		select {
		case <-stop:
			return false
		case <-poll:
			return true
		case e, ok := <-changed:
			if !ok {
				changed = nil // the watch has ended; the poll goes on
			} else if f.matters(e) {
				return true
			}
		case err, ok := <-failed:
			if !ok {
				failed = nil
			} else if err != nil { // such as more events than the system keeps
				return true
			}
		}
	}
}

// matters reports whether a Server has to look into the directory after an event: a command got its
// name, or something happened to the directory itself.
func (f *folder) matters(e fsnotify.Event) bool {
	return e.Name == f.dir || e.Has(fsnotify.Create) && strings.HasSuffix(e.Name, suffix)
}
