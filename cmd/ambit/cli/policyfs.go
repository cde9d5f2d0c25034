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
	strays, err := d.strays()
	return overlay{hand: os.DirFS(dir), generated: generated, strays: strays}, err
}

// strays are the names in the generated folder of policies, hidden ones left
// out, that ambit neither wrote nor would write.
func (d *declaration) strays() ([]string, error) {
	root, err := os.OpenRoot(d.dir)
	if err != nil {
		return nil, problem(err.Error(), "")
	}
	defer root.Close()
	ours, err := readManifest(root, manifestName(d.path))
	if err != nil {
		return nil, err
	}
	for _, f := range d.out {
		ours[f.Name] = true
	}
	folder := policyFolder + "/" + generatedFolder
	entries, err := fs.ReadDir(root.FS(), folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, problem(err.Error(), "")
	}
	var strays []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !ours[folder+"/"+e.Name()] {
			strays = append(strays, e.Name())
		}
	}
	return strays, nil
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

// An overlay shows the generated folder of one file system inside another, and
// in it what strays there.
type overlay struct {
	hand, generated fs.FS
	strays          []string
}

func (o overlay) of(name string) fs.FS {
	inside, ok := strings.CutPrefix(name, generatedFolder+"/")
	top, _, _ := strings.Cut(inside, "/")
	if name == generatedFolder || ok && !slices.Contains(o.strays, top) {
		return o.generated
	}
	return o.hand
}

// Open implements fs.FS.
func (o overlay) Open(name string) (fs.File, error) { return o.of(name).Open(name) }

// ReadDir implements fs.ReadDirFS.
func (o overlay) ReadDir(name string) ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(o.of(name), name)
	if err != nil {
		return nil, err
	}
	switch name {
	case ".":
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == generatedFolder })
		var generated []fs.DirEntry
		generated, err = fs.ReadDir(o.generated, name)
		entries = append(entries, generated...)
	case generatedFolder:
		var hand []fs.DirEntry
		hand, err = fs.ReadDir(o.hand, name)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		for _, e := range hand {
			if slices.Contains(o.strays, e.Name()) {
				entries = append(entries, e)
			}
		}
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}
