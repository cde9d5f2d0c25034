package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/ambit-tools/ambit/runtime/store/audit"
)

// verb runs a verb of an ambit and returns its processor time.
func (r *rig) verb(ctx context.Context, ambit string, args ...string) (float64, error) {
	fmt.Fprintf(r.log, "%s: ambit %s %s\n", time.Now().Format(time.TimeOnly), args[0], args[1])
	cmd := exec.CommandContext(ctx, ambit, args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("ambit %v: %w: %s", args, err, out)
	}
	return (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), nil
}

// verbs measures the verbs that read a part of a store.
func (r *rig) verbs(ctx context.Context, bars []bar) ([]bar, error) {
	for _, v := range []struct {
		args []string
		call bool
	}{
		{[]string{"approvals", "list"}, false},
		{[]string{"grants", "list"}, false},
		{[]string{"calls", "list", "--unresolved"}, false},
		{[]string{"audit", "show"}, true},
	} {
		var times [2][]float64
		for range turns {
			for i, m := range []made{r.few, r.many} {
				args := append(append([]string{}, v.args...), "--store", m.path)
				if v.call { // without its session
					args = append(args, "--call", m.firstCall())
				}
				cpu, err := r.verb(ctx, r.ambit, args...)
				if err != nil {
					return nil, err
				}
				times[i] = append(times[i], cpu)
			}
		}
		few, many := median(times[0]), median(times[1])
		bars = append(bars, bar{fmt.Sprintf("CPU of ambit %s %s, to that of 10,000 calls", v.args[0], v.args[1]), many / few, 2, false, "", fmt.Sprintf("%.3f and %.3f s", few, many)})
	}
	return bars, nil
}

// cut measures "ambit journal archive", which writes snapshots of all sessions, a segment and the lower end of the store. It is
// measured once: it needs a copy of the store, and takes seconds.
func (r *rig) cut(ctx context.Context) (bar, error) {
	few, err := r.cutCopy(ctx, r.few)
	if err != nil {
		return bar{}, err
	}
	many, err := r.cutCopy(ctx, r.many)
	return r.growth("ambit journal archive: exponent of its CPU", few, many), err
}

// cutCopy archives all of a copy of a store that can be archived.
func (r *rig) cutCopy(ctx context.Context, m made) (cpu float64, err error) {
	dir, err := os.MkdirTemp(r.dir, "cut-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "copy.db")
	for _, end := range []string{"", "-wal", ".keys"} {
		if err := copyFile(m.path+end, path+end); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return 0, err
		}
	}
	return r.verb(ctx, r.ambit, "journal", "archive", "--store", path, "--before", "0s", "--window", "0s", "--to", filepath.Join(dir, "1.segment"),
		"--key", m.key()+audit.PublicSuffix, "--anchor", m.anchor())
}

// copyFile copies a file.
func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
