package policydir

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/policies"
)

// maxDepth bounds nested directories; it also ends a loop of symbolic links.
const maxDepth = 16

// walk calls f for each file below dir. It follows symbolic links, since a mounted
// ConfigMap consists of them, and passes over hidden names, since the real
// files of a ConfigMap hide behind one.
func (d directory) walk(dir string, depth int, f func(name string, info fs.FileInfo) error) error {
	if depth > maxDepth {
		return policies.Diagnostics{{File: d.FileName(dir), Message: fmt.Sprintf("directories nest deeper than %d", maxDepth), Hint: "is there a loop of symbolic links?"}}
	}
	entries, err := fs.ReadDir(d.FS, dir)
	if err != nil {
		return d.failed(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		name := path.Join(dir, e.Name())
		info, err := fs.Stat(d.FS, name)
		if err != nil {
			return d.failed(err)
		}
		if info.IsDir() {
			err = d.walk(name, depth+1, f)
		} else {
			err = f(name, info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// A Stamp is what the file system says of the files of a policy directory, without
// their contents.
type Stamp struct {
	names []string // with the number of their directory
	infos []fs.FileInfo
}

// ReadStamp returns the stamp of a policy directory, or of all directories of a Join.
func ReadStamp(fsys fs.FS) (*Stamp, error) {
	dirs, err := directories(fsys)
	if err != nil {
		return nil, err
	}
	var s Stamp
	for i, d := range dirs {
		err := d.walk(".", 0, func(name string, info fs.FileInfo) error {
			s.names, s.infos = append(s.names, fmt.Sprint(i, " ", name)), append(s.infos, info)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return &s, nil
}

// Same reports whether the files of both stamps are the same ones, as far as their names,
// identities, sizes and times tell. It is false for file systems that are not those of the
// operating system, such as one in memory.
func (s *Stamp) Same(o *Stamp) bool {
	if len(s.names) != len(o.names) {
		return false
	}
	for i, a := range s.infos {
		b := o.infos[i]
		if s.names[i] != o.names[i] || a.Size() != b.Size() || !a.ModTime().Equal(b.ModTime()) || !os.SameFile(a, b) {
			return false
		}
	}
	return true
}

// Before reports whether all files were written before a time. A file that is written again
// within the resolution of the file system's clock keeps its time.
func (s *Stamp) Before(t time.Time) bool {
	for _, info := range s.infos {
		if !info.ModTime().Before(t) {
			return false
		}
	}
	return true
}
