// Package running keeps the file in which the owner of a store tells other processes what its commands
// use while they run. Heartbeats are no entries of the journal, so a store has none of them. The file is
// written anew every Every while a command runs and is gone when none does; one that a killed owner has
// left behind is too old to be read. It has numbers and the identities of processes, and nothing that they
// were given or write (SEMANTICS 6.13.4).
package running

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// Suffix is what the name of the file has behind that of the store.
const Suffix = ".processes"

// Every is how often the owner writes the file, and fresh how old one may be that is read.
const (
	Every = time.Second
	fresh = 10 * Every
)

const maxSize = 1 << 20

// A Beat is what a process had used when its runner saw it last.
type Beat struct {
	ID    runtime.ProcessID    `json:"id"`
	Seen  time.Time            `json:"seen"`
	Usage runtime.ProcessUsage `json:"usage"`
}

type content struct {
	Written time.Time `json:"written"`
	Beats   []Beat    `json:"processes"`
}

// A File is written by one goroutine at a time. The zero value but for Path is ready.
type File struct {
	Path  string // of the store, with Suffix
	clean bool   // there is none
}

// Write replaces the file by the last heartbeats of processes, at a time. Without any there is no file.
func (f *File) Write(now time.Time, list []runtime.RunningProcess) error {
	c := content{Written: now}
	for i := range list {
		if r := &list[i]; !r.Seen.IsZero() {
			c.Beats = append(c.Beats, Beat{r.ID, r.Seen, r.Usage})
		}
	}
	if len(c.Beats) == 0 {
		return f.Remove()
	}
	text, err := json.Marshal(c)
	if err != nil {
		return err
	}
	f.clean = false
	part := f.Path + ".part"
	if err := os.Remove(part); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(part, text, 0o600); err != nil {
		return err
	}
	return os.Rename(part, f.Path)
}

// Remove removes the file, also one of an earlier owner.
func (f *File) Remove() error {
	if f.clean {
		return nil
	}
	if err := os.Remove(f.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f.clean = true
	return nil
}

// Read returns the heartbeats of the processes that the owner of a store runs, nothing where it runs none or
// has not written for ten seconds. An error names the file.
func Read(path string, now time.Time) ([]Beat, error) {
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // the owner makes no other one, and a pipe would be waited for
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	file, err := os.Open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist): // the owner has just removed it
		return nil, nil
	case err != nil:
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was read only
	text, err := io.ReadAll(io.LimitReader(file, maxSize+1))
	if err != nil {
		return nil, err
	}
	var c content
	if len(text) > maxSize {
		return nil, fmt.Errorf("%s has more than %d bytes", path, maxSize)
	}
	if bad := wire.Unmarshal(text, wire.Limits{Size: maxSize}, &c); bad != nil {
		return nil, fmt.Errorf("%s: %s", path, bad[0])
	}
	if age := now.Sub(c.Written); age > fresh || age < -fresh {
		return nil, nil
	}
	return c.Beats, nil
}

// Of returns the heartbeat of a process, nil when there is none.
func Of(beats []Beat, id runtime.ProcessID) *Beat {
	for i := range beats {
		if beats[i].ID == id {
			return &beats[i]
		}
	}
	return nil
}
