package policydir

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/policies"
)

// A directory is one of the policy directories of a source.
type directory struct{ policies.Dir }

// directories returns the policy directories that a file system stands for.
func directories(fsys fs.FS) ([]directory, error) {
	given, _ := policies.Joined(fsys)
	if len(given) == 0 {
		given = []policies.Dir{{}}
	}
	dirs := make([]directory, len(given))
	for i := range given {
		dirs[i] = directory{given[i]}
	}
	for i, d := range dirs {
		switch {
		case d.FS == nil:
			return nil, policies.Diagnostics{{File: d.FileName("."), Message: "no policy directory", Hint: "pass its file system"}}
		case strings.HasPrefix(d.Name, LibraryName):
			return nil, policies.Diagnostics{{File: d.Name, Message: fmt.Sprintf("no policy directory can be named so: %q begins the names of the library's files", LibraryName), Hint: "give it another name"}}
		case slices.ContainsFunc(dirs[:i], func(o directory) bool { return o.Name == d.Name }):
			return nil, policies.Diagnostics{{File: d.FileName("."), Message: fmt.Sprintf("two policy directories have the name %q", d.Name), Hint: "give each its own name"}}
		}
		if _, nested := policies.Joined(d.FS); nested {
			return nil, policies.Diagnostics{{File: d.FileName("."), Message: "directories that are joined already", Hint: "pass all of them to one Join"}}
		}
	}
	return dirs, nil
}

// Name returns the name of one of the directory's files.
func (d directory) FileName(path string) string {
	switch {
	case d.Name == "":
		return path
	case path == ".":
		return d.Name
	}
	return d.Name + "/" + path
}

// failed says that the directory cannot be read.
func (d directory) failed(err error) error {
	if d.Name == "" {
		return fmt.Errorf("policy directory: %w", err)
	}
	return fmt.Errorf("policy directory %q: %w", d.Name, err)
}

// together finds the directory with the generated files, and refuses what several
// directories cannot be together.
func (s *Source) together(dirs []directory) {
	seen, home := map[string]bool{}, -1
	for _, f := range s.Files {
		if seen[f.Name] {
			s.faults.AddFile(f.Name, "files of two policy directories have this name", "give one of the directories another name; if one is inside the other, leave it out")
		}
		seen[f.Name] = true
		switch {
		case !f.Generated() || f.dir == home:
		case home < 0:
			home, s.Home = f.dir, dirs[f.dir]
		default:
			s.faults.AddFile(dirs[f.dir].FileName(GeneratedDir), fmt.Sprintf("the declarations of the tools are in %s already", s.Home.FileName(GeneratedDir)),
				"one of the policy directories holds "+GeneratedDir+": remove it from the others")
		}
	}
}
