package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/internal/disk"
)

// What systems say of a path through a file, and of a directory that has entries.
var (
	errNotDir   error = syscall.ENOTDIR
	errNotEmpty error = syscall.ENOTEMPTY
)

// A Kind says what a path stands for.
type Kind string

// The kinds.
const (
	KindAbsent  Kind = ""
	KindFile    Kind = "file"
	KindDir     Kind = "dir"
	kindSpecial Kind = "special" // a link, a pipe, a device: nothing that can be restored
)

// A State is what a path stands for, but for times and owners.
type State struct {
	Kind   Kind        `json:"kind,omitempty"`
	Mode   fs.FileMode `json:"mode,omitempty"`   // permissions, and the further bits of a directory
	SHA256 string      `json:"sha256,omitempty"` // of a file
	Size   int64       `json:"size,omitempty"`   // of a file, in bytes
}

// ref names the content of a file.
func (s State) ref() content.Ref { return content.Ref{SHA256: s.SHA256, Size: s.Size} }

// fileState returns the state of a file.
func fileState(ref content.Ref, mode fs.FileMode) State {
	return State{Kind: KindFile, Mode: mode, SHA256: ref.SHA256, Size: ref.Size}
}

// modeBits are the bits of a mode that are kept.
const modeBits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// What was seen at a place: its state, and what tells whether it is still so.
type seen struct {
	State
	blob content.Blob // of a file
	info fs.FileInfo  // nil: there is nothing
}

// look reads what is at a place. It fails for a file that is larger than limit.
func (p *place) look(limit int64) (seen, error) {
	for range 3 { // another writer may be changing it just now
		s, again, err := p.lookOnce(limit)
		if err != nil {
			return seen{}, fmt.Errorf("path %q: %w", p.path, err)
		}
		if !again {
			return s, nil
		}
	}
	return seen{}, fmt.Errorf("path %q: it changes while it is read: try again", p.path)
}

func (p *place) lookOnce(limit int64) (_ seen, again bool, err error) {
	info, err := p.dir.Lstat(p.base)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return seen{}, false, nil
	case err != nil:
		return seen{}, false, err
	}
	s := seen{State: State{Mode: info.Mode() & modeBits}, info: info}
	switch {
	case info.IsDir():
		s.Kind = KindDir
		return s, false, nil
	case !info.Mode().IsRegular():
		s.Kind = kindSpecial
		return s, false, nil
	case info.Size() > limit:
		return seen{}, false, ErrTooLarge
	}
	f, err := p.dir.Open(p.base, os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return seen{}, true, nil
	}
	if err != nil {
		return seen{}, false, err
	}
	defer f.Close()
	data := make([]byte, info.Size())
	n, err := io.ReadFull(f, data)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return seen{}, false, err
	}
	after, err := f.Stat()
	if err != nil {
		return seen{}, false, err
	}
	if !disk.Unchanged(info, after) || n < len(data) {
		return seen{}, true, nil
	}
	s.blob = content.BlobOf(data)
	s.State = fileState(s.blob.Ref(), s.Mode)
	return s, false, nil
}

// same says whether there is still at a place what was seen there.
func (p *place) same(s seen) (bool, error) {
	info, err := p.dir.Lstat(p.base)
	if errors.Is(err, fs.ErrNotExist) {
		return s.info == nil, nil
	}
	if err != nil {
		return false, fmt.Errorf("path %q: %w", p.path, err)
	}
	if info.IsDir() && s.info != nil && s.info.IsDir() { // its times say what is in it
		return disk.IdentityOf(info).Inode == disk.IdentityOf(s.info).Inode && info.Mode() == s.info.Mode(), nil
	}
	return s.info != nil && disk.Unchanged(info, s.info), nil
}
