package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
)

// tempPrefix begins the names of files that wait for being renamed.
const tempPrefix = ".ambit-tmp-"

// checkPath holds the rules of a path; that of a directory may be ".".
func checkPath(name string) error {
	rule := ""
	switch {
	case name == "":
		rule = "it is empty"
	case strings.ContainsRune(name, 0):
		rule = "it has a NUL"
	case strings.HasPrefix(name, "/"):
		rule = "it is absolute: paths begin in the workspace"
	case strings.ContainsRune(name, '\\'):
		rule = `it has a \: elements are separated by /`
	case name == ".." || strings.HasPrefix(name, "../") || strings.Contains(name, "/../") || strings.HasSuffix(name, "/.."):
		rule = "it has an element .."
	case !fs.ValidPath(name):
		rule = fmt.Sprintf("it has an element that is empty, . or no UTF-8: write %q", path.Clean(strings.ToValidUTF8(name, "")))
	default:
		return nil
	}
	return fmt.Errorf("path %q: %s: %w", name, rule, ErrPath)
}

// checkWrite holds the rules of a path that is written (SEMANTICS 7.5).
func (w *Workspace) checkWrite(name string) error {
	if err := checkPath(name); err != nil {
		return err
	}
	if name == "." {
		return fmt.Errorf("path %q: it is the workspace itself: %w", name, ErrPath)
	}
	elements := strings.Split(name, "/")
	if p := w.protected.of(elements); p != nil {
		return fmt.Errorf("path %q: %s: %w", name, p.reason(), ErrPath)
	}
	for _, element := range elements {
		if strings.HasPrefix(element, tempPrefix) {
			return fmt.Errorf("path %q: names with %s are for files that are being written: %w", name, tempPrefix, ErrPath)
		}
	}
	return nil
}

// checkMode refuses what makes a file more than a file, and what would keep us
// from looking at it again: own are the bits that its owner needs.
func checkMode(name string, mode, own fs.FileMode) error {
	if mode&^fs.ModePerm != 0 || mode&own != own {
		return fmt.Errorf("path %q: mode %v: want permission bits only, with at least %#o: %w", name, mode, own, fs.ErrInvalid)
	}
	return nil
}

// target opens the directory that a path is in.
func (w *Workspace) target(name string) (*target, error) {
	p := &target{path: name, dir: w.root}
	rest := name
	for {
		element, more, found := strings.Cut(rest, "/")
		if !found {
			p.base = element
			return p, nil
		}
		sub, err := p.dir.Sub(element)
		p.close()
		if err != nil {
			return nil, fmt.Errorf("path %q: %w", name, err)
		}
		p.dir, p.own, rest = sub, true, more
	}
}

// nowhere says that there is no directory that a path could be in.
func nowhere(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotDir)
}

// syncPaths returns the directories with these paths, to be synced; those that
// are not there any more are left out. They are to be closed.
func (w *Workspace) syncPaths(paths []string) (list []disk.Syncer, open []*target, err error) {
	for _, name := range paths {
		if name == "." {
			list = append(list, disk.SyncDir{Dir: w.root, Name: "."})
			continue
		}
		p, err := w.target(name + "/.")
		if nowhere(err) {
			continue
		}
		if err != nil {
			closeAll(open)
			return nil, nil, err
		}
		open = append(open, p)
		list = append(list, disk.SyncDir{Dir: p.dir, Name: "."})
	}
	return list, open, nil
}
