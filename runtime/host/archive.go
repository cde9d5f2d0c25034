package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
	"github.com/ambit-tools/ambit/runtime/store/archive"
)

// Archive moves the entries from before a time to a segment: a file that is not there, or one in a folder that is. It takes
// those that an anchored checkpoint proves, none that something open needs, and none of which a window of a tool is still open (SEMANTICS 6.14.2). An
// error that is an [*archive.Refusal] says why nothing can be moved. The executor goes on meanwhile.
func (h *Host) Archive(ctx context.Context, before time.Time, to string) (*archive.Done, error) {
	return h.archive(ctx, time.Now(), before, time.Time{}, to)
}

// archive is Archive at a time, and forgets the calls that ended before another one.
func (h *Host) archive(ctx context.Context, now, before, forget time.Time, to string) (*archive.Done, error) {
	if h.Store == nil {
		return nil, errors.New("host: the journal is Config.Journal: its owner archives it")
	}
	h.archiving.Lock()
	defer h.archiving.Unlock()
	if err := removeParts(h.cfg.archives()); err != nil {
		return nil, err
	}
	verifier, err := h.verifier()
	if err != nil {
		return nil, err
	}
	notes, err := h.notes(ctx, verifier.Name())
	if err != nil {
		return nil, err
	}
	return archive.Write(ctx, &archive.Config{
		Store: h.Store, Verifier: verifier, Notes: notes, Before: before, Now: now, To: to, Forget: forget, Snapshot: h.Executor.Snapshots().Above,
	})
}

// archives returns the folder of the segments that the host names, or writes for a command.
func (c *Config) archives() string { return filepath.Join(c.Dir, "archive") }

// folder makes that folder and returns it.
func (h *Host) folder() (string, error) {
	dir := h.cfg.archives()
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	return dir, nil
}

// removeParts removes from the folder of the host what archives that were killed have left of files without an end (SEMANTICS 6.14.13). No other
// process writes there, and no segment has such a name. The caller holds the lock of archives.
func removeParts(dir string) error {
	list, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, entry := range list {
		if entry.IsDir() || filepath.Ext(entry.Name()) != partExt {
			continue
		}
		if err := os.Remove(filepath.Join(dir, entry.Name())); err != nil {
			return fmt.Errorf("remove what an archive has left: %w", err)
		}
	}
	return nil
}

// partExt ends the name of a segment that is being written.
const partExt = ".part"

// The names that a command may give to a segment, and those that the host gives.
var (
	nameOfSegment = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)
	nameOfEntries = regexp.MustCompile(`^[0-9]{12,}-[0-9]{12,}(-[0-9a-f]{8})?\.segment$`)
)

// archiver lets commands of the inbox archive.
type archiver struct{ *Host }

// Archive implements inbox.Archiver. It writes into Dir/archive alone (SEMANTICS 6.14.4).
func (a archiver) Archive(ctx context.Context, before time.Time, name string) (*journal.Archived, error) {
	dir, err := a.folder()
	if err != nil {
		return nil, err
	}
	to := dir
	if name != "" {
		if to, err = segmentIn(dir, name); err != nil {
			return nil, err
		}
	}
	done, err := a.Host.Archive(ctx, before, to)
	if err != nil {
		return nil, err
	}
	return &journal.Archived{First: done.First, Last: done.Last, File: done.File, Bytes: done.Bytes, Held: done.Held}, nil
}

// segmentIn returns the path of a segment that a command names. A file that is there has to be a regular one: archive.Write
// refuses it unless a crash has left it with the same entries.
func segmentIn(dir, name string) (string, error) {
	if !filepath.IsLocal(name) || !nameOfSegment.MatchString(name) || nameOfEntries.MatchString(name) || filepath.Ext(name) == partExt {
		return "", &archive.Refusal{
			What:   fmt.Sprintf("%q is no name for a segment in %q", name, dir),
			Remedy: "name a file without a folder, of letters, digits, dots and dashes, such as 2027-03.segment",
		}
	}
	to := filepath.Join(dir, name)
	info, err := os.Lstat(to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return to, nil
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", &archive.Refusal{What: fmt.Sprintf("%q is there and is no file", to), Remedy: "name another file, or move this one away"}
	}
	return to, nil
}
