package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
)

// A Stamp is what can be seen of a file without reading it.
type Stamp struct {
	Size    int64 // of a file, in bytes
	ModTime time.Time
	Mode    fs.FileMode
	Inode   uint64
	Changed int64 // of the inode, where the system tells; which no program can set
}

// A Manifest has the stamps of all files and directories of a workspace.
type Manifest map[string]Stamp

// A Difference says how a path differs between two manifests.
type Difference struct {
	Path string
	How  string // added, removed or changed
}

// Scan returns the stamps of all files and directories, links not followed. It
// does not look into .git, and reads no file. With Compare it finds writes that
// went around the workspace.
func (w *Workspace) Scan(ctx context.Context) (Manifest, error) {
	m := Manifest{}
	if err := m.scan(ctx, w.root, ""); err != nil {
		return nil, err
	}
	return m, nil
}

func (m Manifest) scan(ctx context.Context, dir disk.Dir, prefix string) error {
	names, err := dir.List()
	if err != nil {
		return fmt.Errorf("path %q: %w", prefix, err)
	}
	for _, name := range names {
		if isGit(name) || strings.HasPrefix(name, tempPrefix) {
			continue
		}
		path := prefix + name
		info, err := dir.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("path %q: %w", path, err)
		}
		m[path] = stamp(info)
		if info.IsDir() {
			if err := m.scanSub(ctx, dir, name, path+"/"); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

func (m Manifest) scanSub(ctx context.Context, dir disk.Dir, name, prefix string) error {
	sub, err := dir.Sub(name)
	if nowhere(err) || errors.Is(err, disk.ErrLink) {
		return nil // it is another thing by now
	}
	if err != nil {
		return fmt.Errorf("path %q: %w", prefix, err)
	}
	return errors.Join(m.scan(ctx, sub, prefix), sub.Close())
}

// stamp returns the stamp of a file. That of a directory says nothing of what is
// in it: there are other stamps for that.
func stamp(info fs.FileInfo) Stamp {
	id := disk.IdentityOf(info)
	if info.IsDir() {
		return Stamp{Mode: info.Mode(), Inode: id.Inode}
	}
	return Stamp{Size: info.Size(), ModTime: info.ModTime().UTC(), Mode: info.Mode(), Inode: id.Inode, Changed: id.Changed}
}

// Compare returns how a later manifest differs, in the order of the paths, but
// for the paths that were declared, such as those of Tx.Wrote.
func (m Manifest) Compare(later Manifest, declared ...string) []Difference {
	var list []Difference
	for path, before := range m {
		after, there := later[path]
		switch {
		case !there:
			list = append(list, Difference{path, "removed"})
		case before != after:
			list = append(list, Difference{path, "changed"})
		}
	}
	for path := range later {
		if _, there := m[path]; !there {
			list = append(list, Difference{path, "added"})
		}
	}
	list = slices.DeleteFunc(list, func(d Difference) bool { return slices.Contains(declared, d.Path) })
	slices.SortFunc(list, func(a, b Difference) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// Paths returns the paths of a snapshot.
func (s Snapshot) Paths() []string {
	paths := make([]string, len(s))
	for i, f := range s {
		paths[i] = f.Path
	}
	return paths
}
