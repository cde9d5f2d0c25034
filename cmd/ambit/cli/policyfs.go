package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/txtar"
)

const (
	policyFolder    = "policy/"
	generatedFolder = "ambit_gen"
)

// policyFS is the policy folder beside the declaration at path as it will be
// once d is generated: hand-written files from disk, generated ones from
// memory. Without d it is the folder as it stands, and nil when there is none.
func policyFS(path string, d *declaration) (fs.FS, error) {
	dir := policyDir(path)
	info, err := os.Stat(dir)
	absent := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !absent:
		return nil, problem(err.Error(), "")
	case !absent && !info.IsDir():
		return nil, problem(quote(dir)+" is not a folder of policies", "")
	case d != nil:
		return d.policyFS(dir, absent)
	case absent:
		return nil, nil
	}
	return os.DirFS(dir), nil
}

func (d *declaration) policyFS(dir string, absent bool) (fs.FS, error) {
	var files []txtar.File
	if !absent {
		var err error
		if files, err = handWritten(dir); err != nil {
			return nil, problem(err.Error(), "")
		}
	}
	for _, f := range d.out {
		if name, ok := strings.CutPrefix(f.Name, policyFolder); ok {
			files = append(files, txtar.File{Name: name, Data: f.Content})
		}
	}
	return txtar.FS(&txtar.Archive{Files: files})
}

func handWritten(dir string) ([]txtar.File, error) {
	var files []txtar.File
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if path == filepath.Join(dir, generatedFolder) {
				return fs.SkipDir
			}
			return nil
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		files = append(files, txtar.File{Name: filepath.ToSlash(name), Data: content})
		return err
	})
	return files, err
}
