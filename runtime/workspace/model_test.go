package workspace_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"strings"

	"github.com/ambit-tools/ambit/runtime/internal/disk"
	"github.com/ambit-tools/ambit/runtime/workspace"
)

// A tree is what is in a directory: paths, and of each what it is.
type tree map[string]node

type node struct {
	dir  bool
	mode fs.FileMode
	data string
}

// unfenced carries out every effect.
func unfenced(_ context.Context, effect func() error) error { return effect() }

// readTree reads what is in a directory.
func readTree(d disk.Dir) (tree, error) {
	t := tree{}
	return t, t.read(d, "")
}

func (t tree) read(d disk.Dir, prefix string) error {
	names, err := d.List()
	if err != nil {
		return err
	}
	for _, name := range names {
		info, err := d.Lstat(name)
		if err != nil {
			return err
		}
		n := node{dir: info.IsDir(), mode: info.Mode().Perm()}
		t[prefix+name] = n
		if n.dir {
			sub, err := d.Sub(name)
			if err != nil {
				return err
			}
			if err := t.read(sub, prefix+name+"/"); err != nil {
				return err
			}
			_ = sub.Close()
			continue
		}
		f, err := d.Open(name, os.O_RDONLY, 0)
		if err != nil {
			return err
		}
		data, err := io.ReadAll(f)
		_ = f.Close()
		if err != nil {
			return err
		}
		n.data = string(data)
		t[prefix+name] = n
	}
	return nil
}

// empty says whether nothing is in a directory.
func (t tree) empty(dir string) bool {
	for p := range t {
		if strings.HasPrefix(p, dir+"/") {
			return false
		}
	}
	return true
}

// holds says whether a path is in a directory that exists.
func (t tree) holds(name string) bool {
	up := path.Dir(name)
	return up == "." || t[up].dir
}

// the paths and modes that random operations use.
var (
	somePaths = []string{"a", "b", "d", "d/x", "d/y", "d/e", "d/e/z", "f/g"}
	someModes = []fs.FileMode{0o600, 0o640, 0o755}
)

// A step is an operation on a workspace and on its model. The model tells
// whether it has to succeed.
type step struct {
	name string
	real func(ctx context.Context, w *workspace.Workspace) error
	want func(t tree) bool
}

// randomStep returns an operation.
func randomStep(r *rand.Rand) step {
	name, mode := somePaths[r.IntN(len(somePaths))], someModes[r.IntN(len(someModes))]
	switch r.IntN(8) {
	case 0, 1, 2, 3:
		data := strings.Repeat(string(rune('a'+r.IntN(26))), r.IntN(40))
		return writeStep(name, data, mode)
	case 4:
		return removeStep(name)
	case 5:
		return renameStep(name, somePaths[r.IntN(len(somePaths))])
	case 6:
		return mkdirAllStep(name, mode|0o700)
	default:
		return mkdirStep(name, mode|0o700)
	}
}

func writeStep(name, data string, mode fs.FileMode) step {
	return step{fmt.Sprintf("write %s %q %o", name, data, mode), func(ctx context.Context, w *workspace.Workspace) error {
		return w.WriteFile(ctx, name, []byte(data), mode)
	}, func(t tree) bool {
		old, there := t[name]
		if !t.holds(name) || old.dir {
			return false
		}
		if there {
			mode = old.mode
		}
		t[name] = node{mode: mode, data: data}
		return true
	}}
}

func removeStep(name string) step {
	return step{"remove " + name, func(ctx context.Context, w *workspace.Workspace) error {
		return w.Remove(ctx, name)
	}, func(t tree) bool {
		if _, there := t[name]; !there || !t.empty(name) {
			return false
		}
		delete(t, name)
		return true
	}}
}

func renameStep(from, to string) step {
	return step{"rename " + from + " " + to, func(ctx context.Context, w *workspace.Workspace) error {
		return w.Rename(ctx, from, to)
	}, func(t tree) bool {
		old, there := t[from]
		if !there || old.dir || !t.holds(to) || t[to].dir {
			return false
		}
		delete(t, from)
		t[to] = old
		return true
	}}
}

func mkdirStep(name string, mode fs.FileMode) step {
	return step{fmt.Sprintf("mkdir %s %o", name, mode), func(ctx context.Context, w *workspace.Workspace) error {
		return w.Mkdir(ctx, name, mode)
	}, func(t tree) bool {
		if _, there := t[name]; there || !t.holds(name) {
			return false
		}
		t[name] = node{dir: true, mode: mode}
		return true
	}}
}

func mkdirAllStep(name string, mode fs.FileMode) step {
	return step{fmt.Sprintf("mkdirall %s %o", name, mode), func(ctx context.Context, w *workspace.Workspace) error {
		return w.MkdirAll(ctx, name, mode)
	}, func(t tree) bool {
		made := maps.Clone(t)
		for i := 1; i <= len(name); i++ {
			if i < len(name) && name[i] != '/' {
				continue
			}
			old, there := made[name[:i]]
			if there && !old.dir {
				return false
			}
			if !there {
				made[name[:i]] = node{dir: true, mode: mode}
			}
		}
		maps.Copy(t, made)
		return true
	}}
}

// plant makes a random tree and syncs it.
func plant(r *rand.Rand, d disk.Dir) error {
	t := tree{}
	for range r.IntN(6) {
		randomStep(r).want(t)
	}
	return t.write(d)
}

// write makes what t says in an empty directory, durably.
func (t tree) write(d disk.Dir) error {
	for _, name := range sortedPaths(t) {
		n := t[name]
		var f disk.File
		var err error
		if n.dir {
			if err = d.Mkdir(name, 0o700); err == nil {
				f, err = d.Open(name, os.O_RDONLY, 0)
			}
			if err == nil {
				err = f.Chmod(n.mode)
			}
		} else {
			f, err = disk.Create(d, name, []byte(n.data), n.mode)
		}
		if err != nil {
			return err
		}
		if err := disk.All(f, disk.SyncDir{Dir: d, Name: path.Dir(name)}); err != nil {
			return err
		}
		_ = f.Close()
	}
	return nil
}
