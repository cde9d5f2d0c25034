package backup

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/internal/oslock"
	"github.com/ambit-tools/ambit/runtime/store/sqlite"
)

// A Source says what is backed up. Store is required. Files that are not there are left out.
type Source struct {
	Store    string // file of the store; its keys are in Store.keys
	Objects  string // directory of the contents; Store.objects by default
	Anchor   string // file of anchored notes that belongs to the store; Store.anchor by default
	Verifier string // what verifies the audit log; Store.audit.pub by default

	// Report is told of contents that are left out because they are not what their names say. nil: not told.
	Report func(error)
	// Step is told what Write begins to do. nil: not told.
	Step func(what string)
}

// withDefaults returns the source with the names that it leaves out.
func (s Source) withDefaults() Source {
	for _, d := range []struct {
		name   *string
		suffix string
	}{{&s.Objects, ".objects"}, {&s.Anchor, ".anchor"}, {&s.Verifier, ".audit.pub"}} {
		if *d.name == "" {
			*d.name = s.Store + d.suffix
		}
	}
	if s.Report == nil {
		s.Report = func(error) {}
	}
	if s.Step == nil {
		s.Step = func(string) {}
	}
	return s
}

// Write writes a backup of a store, which may be in use, to a file. It verifies every entry of the copy. The
// file has its name when all of it would outlive a crash; its mode is 0600. The error is
// [fs.ErrExist] when there is a file of that name, and otherwise that of [sqlite.Reader.Backup] or
// of the disk. Write needs room for two copies of the store beside the file.
func Write(ctx context.Context, file string, s Source) (*Manifest, error) {
	m, err := write(ctx, file, s.withDefaults())
	if err != nil {
		return nil, fmt.Errorf("back up to %q: %w", file, err)
	}
	return m, nil
}

func write(ctx context.Context, file string, s Source) (m *Manifest, err error) {
	if err := absent(file); err != nil {
		return nil, err
	}
	part, release, err := workDir(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	r, err := sqlite.OpenReader(s.Store, sqlite.WithKeys(s.Store+".keys"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()

	// The notes are read before the store: they say nothing about entries that the copy lacks.
	anchored, err := copyIfThere(s.Anchor, filepath.Join(part, nameAnchor))
	if err != nil {
		return nil, err
	}
	copied := filepath.Join(part, nameStore)
	at := time.Now().UTC().Round(0)
	s.Step("copying and verifying the store")
	entries, err := r.Backup(ctx, copied)
	if err != nil {
		return nil, err
	}
	out, err := os.OpenFile(filepath.Join(part, "backup"), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	p := &packed{w: tar.NewWriter(out), manifest: Manifest{Version: manifestVersion, Entries: entries, At: at}}
	if err = errors.Join(p.fill(ctx, copied, anchored, s), out.Sync(), out.Close()); err != nil {
		return nil, err
	}
	if err := absent(file); err != nil { // a file that came meanwhile is not replaced
		return nil, err
	}
	if err := os.Rename(out.Name(), file); err != nil {
		return nil, err
	}
	return &p.manifest, oslock.SyncDir(filepath.Dir(file))
}

// absent refuses a name that is taken.
func absent(file string) error {
	_, err := os.Lstat(file)
	switch {
	case err == nil:
		return fmt.Errorf("%w: name another file, or move this one away", fs.ErrExist)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	}
	return err
}

// workDir makes a directory beside a file, that no other process removes until release, which removes
// it. It removes what processes have left that were killed: those hold no lock in their directories.
func workDir(file string) (dir string, release func() error, err error) {
	left, err := filepath.Glob(escaped.Replace(file) + ".part-*")
	if err != nil {
		return "", nil, err
	}
	for _, dir := range left {
		lock, held, err := lockIn(dir)
		if err == nil && !held {
			err = os.RemoveAll(dir)
		}
		if lock != nil {
			err = errors.Join(err, lock.Close())
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", nil, err
		}
	}
	if dir, err = os.MkdirTemp(filepath.Dir(file), filepath.Base(file)+".part-*"); err != nil {
		return "", nil, err
	}
	// A process that finds the directory before it is locked removes it. Then what follows fails.
	lock, held, err := lockIn(dir)
	if err == nil && held {
		err = fmt.Errorf("another process has locked %q: try again", dir)
	}
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, func() error { return errors.Join(os.RemoveAll(dir), lock.Close()) }, nil
}

// escaped makes a name a pattern of filepath.Match.
var escaped = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")

// lockIn takes the lock of a directory.
func lockIn(dir string) (lock *os.File, held bool, err error) {
	if lock, err = os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, false, err
	}
	held, err = oslock.Lock(lock)
	return lock, held, err
}

// copyIfThere copies a file, and reports whether it is there.
func copyIfThere(from, to string) (bool, error) {
	in, err := os.Open(from)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false, errors.Join(err, in.Close())
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	return true, errors.Join(err, in.Close(), out.Close())
}

// fill adds all files.
func (p *packed) fill(ctx context.Context, copied string, anchored bool, s Source) error {
	s.Step("packing")
	if err := p.addPath(nameStore, copied); err != nil {
		return err
	}
	if err := p.addPath(nameKeys, copied+".keys"); err != nil {
		return err
	}
	if anchored {
		if err := p.addPath(nameAnchor, filepath.Join(filepath.Dir(copied), nameAnchor)); err != nil {
			return err
		}
	}
	if err := p.addPath(nameVerifier, s.Verifier); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := p.objects(ctx, s); err != nil {
		return err
	}
	return p.close()
}

// objects adds the contents that are whole.
func (p *packed) objects(ctx context.Context, s Source) error {
	shards, err := os.ReadDir(s.Objects)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, shard := range shards {
		list, err := os.ReadDir(filepath.Join(s.Objects, shard.Name()))
		if err != nil && !shard.IsDir() {
			continue
		}
		if err != nil {
			return err
		}
		for _, e := range list {
			name := nameObjects + shard.Name() + e.Name()
			if !e.Type().IsRegular() || !objectName.MatchString(name) {
				continue // a temporary file
			}
			if err := errors.Join(ctx.Err(), p.object(name, filepath.Join(s.Objects, shard.Name(), e.Name()), s.Report)); err != nil {
				return err
			}
		}
	}
	return nil
}

// object adds a content, unless it is not what its name says, or was removed meanwhile.
func (p *packed) object(name, path string, report func(error)) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	ref := content.Ref{SHA256: name[len(nameObjects):], Size: info.Size()}
	if err := ref.Verify(f); err != nil {
		report(fmt.Errorf("left out: %w", err))
		return f.Close()
	}
	if _, err = f.Seek(0, io.SeekStart); err == nil {
		err = p.add(name, f)
	}
	if err == nil && p.manifest.Files[len(p.manifest.Files)-1].SHA256 != ref.SHA256 {
		err = fmt.Errorf("the content %q has changed while it was copied: try again", path)
	}
	return errors.Join(err, f.Close())
}
