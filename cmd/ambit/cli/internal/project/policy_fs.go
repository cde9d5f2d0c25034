package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/tools/txtar"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/policies"
)

// policyFolder is the folder of policies beside a declaration.
const policyFolder = "policy"

// GeneratedFolder is the folder in it with the generated files.
const GeneratedFolder = "ambit_gen"

// PolicyFlag adds the flag with which a verb is told where the policies are.
func PolicyFlag(cmd *cobra.Command, dirs *[]string) {
	cmd.Flags().StringArrayVar(dirs, "policies", nil, "`folder` of policies; may be repeated; without it that beside the declaration")
}

// PolicyDirs are the folders of policies that a verb is about.
type PolicyDirs struct {
	dirs []string // as the user knows them
	home int      // the index of the one with the generated files
}

// FindPolicies returns the folders that --policies names, or else the one beside
// the declaration at path, which may be absent.
func FindPolicies(path string, given []string) (PolicyDirs, error) {
	own := PolicyDir(path)
	p := PolicyDirs{dirs: []string{own}}
	if len(given) > 0 {
		p.dirs = nil
	}
	generated := -1
	for i, dir := range given {
		if dir == "" {
			return p, cmdutil.Usage("--policies names no folder", "name the folder that holds the .rego files")
		}
		dir = filepath.Clean(dir)
		info, err := os.Stat(dir)
		switch {
		case err != nil:
			return p, cmdutil.FileProblem(dir, err, "name the folder that holds the .rego files")
		case !info.IsDir():
			return p, cmdutil.Problem(cmdutil.Quote(dir)+" is not a folder of policies", "name the folder that holds the .rego files")
		}
		if _, err := os.Stat(filepath.Join(dir, GeneratedFolder)); err == nil && generated < 0 {
			generated = i
		}
		p.dirs = append(p.dirs, dir)
	}
	p.home = max(generated, 0)
	if i := slices.IndexFunc(p.dirs, func(dir string) bool { return sameFile(dir, own) }); i >= 0 {
		p.home = i
	}
	return p, nil
}

// sameFile says that two paths lead to one file or folder.
func sameFile(a, b string) bool {
	first, err1 := os.Stat(a)
	second, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(first, second)
}

// FS is the policies as they will be once d is generated: hand-written files from
// disk, generated ones from memory. Without d they are the folders as they stand,
// and nil when there is none. Files are named as the user can open them.
func (p PolicyDirs) FS(d *Declaration) (fs.FS, error) {
	dirs := make([]policies.Dir, len(p.dirs))
	for i, dir := range p.dirs {
		fsys, err := policyFS(dir, d, i == p.home)
		if err != nil || fsys == nil {
			return nil, err
		}
		dirs[i] = policies.Dir{Name: dir, FS: fsys}
	}
	return policies.Join(dirs...), nil
}

// Policies returns the policies that d is judged with: those in the folders that
// --policies names, or else in the one beside d, as they will be once d is generated.
func (d *Declaration) Policies(given []string) (fs.FS, error) {
	dirs, err := FindPolicies(d.Path, given)
	if err != nil {
		return nil, err
	}
	return dirs.FS(d)
}

// HomeDir is the folder with the generated files.
func (p PolicyDirs) HomeDir() string { return p.dirs[p.home] }

// Generated says that the folders hold what an earlier declaration was generated to.
func (p PolicyDirs) Generated() bool {
	_, err := os.Stat(filepath.Join(p.HomeDir(), GeneratedFolder, "data.json"))
	return err == nil
}

// policyFS is one folder of policies. home says that it is the one with the
// generated files, which may be absent when they are those of d.
func policyFS(dir string, d *Declaration, home bool) (fs.FS, error) {
	info, err := os.Stat(dir)
	absent := errors.Is(err, fs.ErrNotExist)
	switch {
	case err != nil && !absent:
		return nil, cmdutil.Problem(err.Error(), "")
	case !absent && !info.IsDir():
		return nil, cmdutil.Problem(cmdutil.Quote(dir)+" is not a folder of policies", "")
	case d == nil && absent:
		return nil, nil
	case d == nil || !home:
		return os.DirFS(dir), nil
	}
	generated, err := d.generatedPolicies()
	if err != nil || absent {
		return generated, err
	}
	strays, err := d.Strays()
	return overlay{hand: os.DirFS(dir), generated: generated, strays: strays}, err
}

// Strays are the names in the generated folder of policies, hidden ones left
// out, that ambit neither wrote nor would write.
func (d *Declaration) Strays() ([]string, error) {
	root, err := os.OpenRoot(d.Dir)
	if err != nil {
		return nil, cmdutil.Problem(err.Error(), "")
	}
	defer root.Close()
	ours, err := ReadManifest(root, ManifestName(d.Path))
	if err != nil {
		return nil, err
	}
	for _, f := range d.Out {
		ours[f.Name] = true
	}
	folder := policyFolder + "/" + GeneratedFolder
	entries, err := fs.ReadDir(root.FS(), folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, cmdutil.Problem(err.Error(), "")
	}
	var strays []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !ours[folder+"/"+e.Name()] {
			strays = append(strays, e.Name())
		}
	}
	return strays, nil
}

func (d *Declaration) generatedPolicies() (fs.FS, error) {
	var a txtar.Archive
	for _, f := range d.Out {
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
	inside, ok := strings.CutPrefix(name, GeneratedFolder+"/")
	top, _, _ := strings.Cut(inside, "/")
	if name == GeneratedFolder || ok && !slices.Contains(o.strays, top) {
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
		entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return e.Name() == GeneratedFolder })
		var generated []fs.DirEntry
		generated, err = fs.ReadDir(o.generated, name)
		entries = append(entries, generated...)
	case GeneratedFolder:
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
