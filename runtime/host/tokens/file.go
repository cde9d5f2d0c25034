package tokens

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/internal/oslock"
	"github.com/ambit-tools/ambit/runtime/internal/ownfile"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// The errors of a File, to be found with errors.Is.
var (
	// ErrUnknown says that there is no token of a name.
	ErrUnknown = errors.New("there is no such token")
	// ErrExists says that there is another token of the same name.
	ErrExists = errors.New("there is another token of this name")
	// ErrInvalid says that Add was given what no token is.
	ErrInvalid = errors.New("it is no token")
)

// FileOf returns the name of the file with the tokens of a store.
func FileOf(store string) string { return store + ".tokens" }

// retry is how often a lock that another process holds is asked for again.
const retry = 10 * time.Millisecond

// A File keeps tokens. Its methods are safe for concurrent use, also by several processes.
type File struct {
	path string

	mu   sync.Mutex
	seen fs.FileInfo // of the file that held; nil: there was none
	held map[string]*held
}

// A held token is one that the file has.
type held struct {
	Token
	ended chan struct{} // closed when it is revoked
}

// document is what the file says.
type document struct {
	Version int     `json:"version"`
	Tokens  []Token `json:"tokens"`
}

const version = 1

// Open returns the tokens of a file, which need not exist yet.
func Open(path string) *File { return &File{path: path, held: map[string]*held{}} }

// Check refuses a file that all users may read or write, and what is no file. Verify does so too; List, Add and
// Revoke do not, so that a token can be revoked at once.
func (f *File) Check() error { return ownfile.Closed(f.path) }

// Verify returns whose token a text is, and a channel that is closed when the token is revoked. ok is
// false when there is no such token. An error says that the file cannot be read: then nobody is known.
func (f *File) Verify(text string) (who runtime.Actor, revoked <-chan struct{}, ok bool, err error) {
	name, ok := nameIn(text)
	if !ok {
		return who, nil, false, nil
	}
	if err := f.Check(); err != nil {
		return who, nil, false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.refresh(); err != nil {
		return who, nil, false, err
	}
	t := f.held[name]
	if t == nil || !t.is(text) {
		return who, nil, false, nil
	}
	return t.actor(), t.ended, true, nil
}

// List returns the tokens, in the order in which they were made.
func (f *File) List() ([]Token, error) {
	doc, _, err := f.read()
	return doc.Tokens, err
}

// Add keeps a token. It is kept when Add returns without an error, also after a crash. Adding the same
// token again changes nothing.
func (f *File) Add(ctx context.Context, t Token) error {
	if err := t.check(); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return f.change(ctx, func(list []Token) ([]Token, error) {
		i := slices.IndexFunc(list, func(o Token) bool { return o.Name == t.Name })
		switch {
		case i < 0:
			return append(list, t), nil
		case list[i].SHA256 != t.SHA256 || list[i].ID != t.ID || !slices.Equal(list[i].Groups, t.Groups):
			return nil, ErrExists
		}
		return list, nil
	})
}

// Revoke removes a token, and closes the channels that Verify returned for it. The error is ErrUnknown
// when there is none; also then the channels are closed.
func (f *File) Revoke(ctx context.Context, name string) error {
	return f.change(ctx, func(list []Token) ([]Token, error) {
		i := slices.IndexFunc(list, func(o Token) bool { return o.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("%q: %w", name, ErrUnknown)
		}
		return slices.Delete(list, i, i+1), nil
	})
}

// change replaces the file by one with other tokens, unless edit returns an error.
func (f *File) change(ctx context.Context, edit func([]Token) ([]Token, error)) (err error) {
	lock, err := f.lock(ctx)
	if err != nil {
		return fmt.Errorf("change the tokens: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.refresh(); err != nil {
		return err
	}
	doc, _, err := f.read()
	if err != nil {
		return err
	}
	if doc.Tokens, err = edit(doc.Tokens); err != nil {
		return err
	}
	doc.Version = version
	text, err := json.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	if err := replace(f.path, append(text, '\n')); err != nil {
		return err
	}
	return f.refresh()
}

// lock keeps other writers out until the file that it returns is closed.
func (f *File) lock(ctx context.Context) (*os.File, error) {
	lock, err := os.OpenFile(f.path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		byAnother, err := oslock.Lock(lock)
		if err != nil {
			return nil, errors.Join(err, lock.Close())
		}
		if !byAnother {
			return lock, nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(context.Cause(ctx), lock.Close())
		case <-time.After(retry):
		}
	}
}

// refresh reads the file again when it was replaced. f.mu is held.
func (f *File) refresh() error {
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		info, err = nil, nil
	}
	if err != nil {
		return err
	}
	if info == nil && f.seen == nil || info != nil && f.seen != nil && same(info, f.seen) {
		return nil
	}
	doc, info, err := f.read()
	if err != nil {
		return err
	}
	now := make(map[string]*held, len(doc.Tokens))
	for _, t := range doc.Tokens {
		if old := f.held[t.Name]; old != nil && old.SHA256 == t.SHA256 && old.ID == t.ID && slices.Equal(old.Groups, t.Groups) {
			now[t.Name] = old
			continue
		}
		now[t.Name] = &held{t, make(chan struct{})}
	}
	for name, old := range f.held {
		if now[name] != old {
			close(old.ended)
		}
	}
	f.held, f.seen = now, info
	return nil
}

// same reports whether a file was not replaced.
func same(a, b fs.FileInfo) bool {
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// read returns what the file says, and which file that was; nil when there is none.
func (f *File) read() (doc document, info fs.FileInfo, err error) {
	file, err := ownfile.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return doc, nil, nil
	}
	if err != nil {
		return doc, nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if info, err = file.Stat(); err != nil {
		return doc, nil, err
	}
	text, err := io.ReadAll(file)
	if err != nil {
		return doc, nil, err
	}
	if bad := wire.Unmarshal(text, wire.Limits{Size: len(text) + 1}, &doc); bad != nil {
		return document{}, nil, fmt.Errorf("%q holds no tokens: %s", f.path, bad[0])
	}
	if doc.Version != version {
		return document{}, nil, fmt.Errorf("%q is of version %d, and this program reads %d", f.path, doc.Version, version)
	}
	for i := range doc.Tokens {
		if err := doc.Tokens[i].check(); err != nil {
			return document{}, nil, fmt.Errorf("%q: token %q: %w", f.path, doc.Tokens[i].Name, err)
		}
	}
	return doc, info, nil
}

// replace makes a file that only its owner can read, of which there is nothing or all.
func replace(path string, text []byte) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".tmp-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temp.Name()))
		}
	}()
	if err = ownfile.Close(temp); err == nil {
		_, err = bytes.NewReader(text).WriteTo(temp)
	}
	if err == nil {
		err = temp.Sync()
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err = os.Rename(temp.Name(), path); err != nil {
		return err
	}
	return oslock.SyncDir(filepath.Dir(path))
}
