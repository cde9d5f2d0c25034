package author

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
)

// mayStay matches what a repository holds before there is any code in it.
var mayStay = regexp.MustCompile(`(?i)^(\.git|\.gitignore|\.gitattributes|\.editorconfig|\.github|readme(\..+)?|licen[sc]e(\..+)?)$`)

// cannotWrite says that a folder cannot be made, or nothing in it. That something
// is not there is no reason then.
func cannotWrite(dir string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("nothing can be written there")
	}
	return cmdutil.FileProblem(dir, err, "name a folder that you may write")
}

// stagePrefix begins the name of the folder in which an init is at work.
const stagePrefix = ".ambit-init-"

// keep lists what is in a folder and may stay there; anything else is an error.
func keep(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var kept []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), stagePrefix) {
			return nil, cmdutil.Problem(cmdutil.Quote(dir)+" holds "+cmdutil.Quote(e.Name())+" of another init", "name another folder, or remove it when no init is at work")
		}
		if !mayStay.MatchString(e.Name()) {
			return nil, cmdutil.Problem(cmdutil.Quote(dir)+" is not empty: it holds "+cmdutil.Quote(e.Name()),
				"delete the folder if an earlier init has written it, or name another one: init writes into a new folder, or one with no more than .git, .gitignore, README and LICENSE in it")
		}
		kept = append(kept, e.Name())
	}
	return kept, nil
}

// placed lists the files and folders that one init has made, in order.
type placed []string

// remove removes what this init has made. A folder in which another process has
// made something stays.
func (p *placed) remove() {
	for _, path := range slices.Backward(*p) {
		os.Remove(path) //nolint:errcheck // see above
	}
}

// folder makes a folder, and those above it, unless they are there.
func (p *placed) folder(dir string) error {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(dir); err == nil {
			return cmdutil.Problem(cmdutil.Quote(dir)+" is a symbolic link that leads nowhere", "remove the link, or name another folder")
		}
		if err := p.folder(filepath.Dir(dir)); err != nil {
			return err
		}
		made := p.made(dir, os.Mkdir(dir, 0o755))
		switch {
		case made == nil:
			return nil
		case !errors.Is(made, fs.ErrExist):
			return cannotWrite(dir, made)
		}
		info, err = os.Stat(dir) // another process has made it meanwhile
	}
	switch {
	case err != nil:
		return cmdutil.FileProblem(dir, err, "name another folder")
	case !info.IsDir():
		return cmdutil.Problem(cmdutil.Quote(dir)+" is not a folder", "name another folder")
	}
	return nil
}

// made remembers what was made without an error.
func (p *placed) made(path string, err error) error {
	if err == nil {
		*p = append(*p, path)
	}
	return err
}

// move moves what is in stage to dir, except for the kept names. It replaces
// nothing: each name is taken before the file that it is for comes there, and
// what another has taken meanwhile is an error.
func (p *placed) move(stage, dir string, kept []string) error {
	return filepath.WalkDir(stage, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == stage {
			return err
		}
		name, err := filepath.Rel(stage, path)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(kept, func(k string) bool { return strings.EqualFold(k, name) }) {
			return nil
		}
		to := filepath.Join(dir, name)
		if err = p.claim(to, d.IsDir()); err == nil && !d.IsDir() {
			err = os.Rename(path, to)
		}
		if errors.Is(err, fs.ErrExist) {
			return cmdutil.Problem(cmdutil.Quote(name)+" appeared in "+cmdutil.Quote(dir)+" meanwhile", "if another init is at work there, it has the folder; name another one")
		}
		return err
	})
}

// claim makes a folder or an empty file where there is none.
func (p *placed) claim(path string, folder bool) error {
	if folder {
		return p.made(path, os.Mkdir(path, 0o755))
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if p.made(path, err) != nil {
		return err
	}
	return f.Close()
}
