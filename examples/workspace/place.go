package main

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

//go:embed files
var files embed.FS

// A place is where the agent works and where the journal is. All but dir is
// named after the store.
type place struct {
	dir    string // what the tools work on
	name   string // of dir, for people
	store  string // the journal
	anchor string // signed notes of the audit
	temp   string // what goes when the program ends; empty: nothing
}

// The files and directories next to the store.
func (p *place) key() string    { return p.store + ".audit" }  // of the audit; with .pub, the public part
func (p *place) outbox() string { return p.store + ".outbox" } // the messages that were sent

// newPlace finds or makes the place that the command line asks for: a temporary
// one, unless it names a store or a directory.
func newPlace(cfg *config) (p *place, err error) {
	p = &place{dir: cfg.dir, name: oneLine(cfg.dir), store: cfg.store, anchor: cfg.anchor}
	if p.dir != "" {
		info, err := os.Stat(p.dir)
		if err == nil && !info.IsDir() {
			err = errors.New("it is not a folder")
		}
		if err != nil {
			return nil, fileError("-dir", p.dir, err, "name a folder that is there")
		}
	}
	if p.store == "" {
		if p.temp, err = os.MkdirTemp("", "ambit-workspace-"); err != nil {
			return nil, err
		}
		p.store = filepath.Join(p.temp, "ambit.db")
	}
	p.anchor = cmp.Or(p.anchor, p.store+".anchor")
	if p.dir != "" {
		return p, nil
	}
	p.dir, p.name = p.store+".files", "a temporary copy"
	if p.temp == "" {
		p.name = oneLine(p.dir)
	}
	if err := copyFiles(p.dir); err != nil {
		return nil, errors.Join(err, p.remove())
	}
	return p, nil
}

// fileError says what is wrong with what a flag names, as it was written.
func fileError(flag, name string, err error, hint string) error {
	if errors.Is(err, fs.ErrNotExist) {
		err = errors.New("there is no such thing")
	} else if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return fmt.Errorf("%s %q: %w\nhint: %s", flag, name, err, hint)
}

// remove removes what is temporary.
func (p *place) remove() error {
	if p.temp == "" {
		return nil
	}
	return os.RemoveAll(p.temp)
}

// copyFiles makes dir a copy of the example's own files, unless it is there: all
// of it or nothing.
func copyFiles(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return nil
	}
	own, err := fs.Sub(files, "files")
	if err != nil {
		return err
	}
	half := dir + ".half"
	if err := os.RemoveAll(half); err != nil {
		return err
	}
	if err := os.CopyFS(half, own); err != nil {
		return err
	}
	return os.Rename(half, dir)
}
