package workspace

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/ambit-tools/ambit/runtime/content"
	"github.com/ambit-tools/ambit/runtime/internal/disk"
)

// A target is a name in an open directory, reached without following a link: an
// operation acts in that directory even if the path to it changes meanwhile.
type target struct {
	path string
	dir  disk.Dir
	base string
	own  bool // dir is to be closed
}

// look reads what is at a target. It fails for a file that is larger than limit.
func (p *target) look(limit int64) (seen, error) {
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

func (p *target) lookOnce(limit int64) (_ seen, again bool, err error) {
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

// same says whether there is still at a target what was seen there.
func (p *target) same(s seen) (bool, error) {
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

// close closes the directory.
func (p *target) close() {
	if p.own {
		_ = p.dir.Close() // nothing was written through it
	}
}

// closeAll closes the directories of many targets.
func closeAll(list []*target) {
	for _, p := range list {
		p.close()
	}
}
