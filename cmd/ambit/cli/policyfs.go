package cli

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

const (
	policyFolder    = "policy"
	generatedFolder = "ambit_gen"
)

// policyFS is the policy folder beside the declaration at path as it will be
// once d is generated: hand-written files from disk, generated ones from
// memory. Without d it is the folder as it stands, and nil when there is none.
func policyFS(path string, d *declaration) (fs.FS, error) { return policyFSIn(policyDir(path), d) }

// policyFSIn is policyFS for a policy folder that is somewhere else.
func policyFSIn(dir string, d *declaration) (fs.FS, error) {
	info, err := os.Stat(dir)
	absent := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !absent:
		return nil, problem(err.Error(), "")
	case !absent && !info.IsDir():
		return nil, problem(quote(dir)+" is not a folder of policies", "")
	case d == nil && absent:
		return nil, nil
	case d == nil:
		return os.DirFS(dir), nil
	}
	generated, err := d.generatedPolicies()
	if err != nil || absent {
		return generated, err
	}
	return overlay{hand: os.DirFS(dir), generated: generated}, nil
}

func (d *declaration) generatedPolicies() (fs.FS, error) {
	var a txtar.Archive
	for _, f := range d.out {
		if name, ok := strings.CutPrefix(f.Name, policyFolder+"/"); ok {
			a.Files = append(a.Files, txtar.File{Name: name, Data: f.Content})
		}
	}
	return txtar.FS(&a)
}

// An overlay shows the generated folder of one file system inside another.
type overlay struct{ hand, generated fs.FS }

func (o overlay) of(name string) fs.FS {
	if name == generatedFolder || strings.HasPrefix(name, generatedFolder+"/") {
		return o.generated
	}
	return o.hand
}

// Open implements fs.FS.
func (o overlay) Open(name string) (fs.File, error) { return o.of(name).Open(name) }

// ReadDir implements fs.ReadDirFS.
func (o overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(o.of(name), name)
	if err != nil || name != "." {
		return entries, err
	}
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == generatedFolder })
	generated, err := fs.ReadDir(o.generated, name)
	entries = append(entries, generated...)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}
