package audit

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	sumnote "golang.org/x/mod/sumdb/note"

	"github.com/ambit-tools/ambit/cmd/ambit/cli/internal/cmdutil"
	"github.com/ambit-tools/ambit/runtime/store/audit"
)

// A resuming is what says where a verification begins.
type resuming struct {
	file    string
	auditor string
	full    bool

	signer sumnote.Signer
}

func (v *resuming) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&v.file, "resume", "", "`file` that says how far the last verification was, and where this one begins")
	cmd.Flags().StringVar(&v.auditor, "auditor", "", "`file` of the key that signs it, which no process that writes the store can read")
	cmd.Flags().BoolVar(&v.full, "full", false, "read all entries, also those that were verified before")
}

// missing names what a verification that resumes cannot do without.
func (v *resuming) missing(key string) error {
	switch {
	case (v.file == "") != (v.auditor == ""):
		return cmdutil.Usage("--resume and --auditor belong together", "add --resume FILE and --auditor KEY, or neither")
	case v.file != "" && key == "":
		return cmdutil.Usage("--resume needs the verifier", "add --key FILE.pub: a resume point is a checkpoint that was verified")
	}
	return nil
}

// read returns the point at which to begin; nil: at the first entry.
func (v *resuming) read() (*audit.Resume, error) {
	if v.file == "" {
		return nil, nil
	}
	var err error
	if v.signer, err = audit.ReadSigner(v.auditor); err != nil {
		return nil, cmdutil.Problem(err.Error(), "make a key for the auditor: ambit audit keygen NAME --out DIR")
	}
	if v.full {
		return nil, nil
	}
	text, err := os.ReadFile(v.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, cmdutil.FileProblem(v.file, err, "name a file for the resume point")
	}
	point, err := audit.OpenResume(text, v.signer)
	if err != nil {
		return nil, cmdutil.Problem(v.file+": "+err.Error(), "a process may have written it to hide a change: verify with --full")
	}
	return point, nil
}

// write replaces the point, unless something is wrong.
func (v *resuming) write(r *audit.Report) (err error) {
	if v.file == "" || r.Resume == nil || r.Bad != nil {
		return nil
	}
	text, err := audit.SignResume(r.Resume, v.signer)
	if err != nil {
		return cmdutil.Problem(err.Error(), "ambit audit keygen NAME --out DIR")
	}
	f, err := os.CreateTemp(filepath.Dir(v.file), filepath.Base(v.file)+".*")
	if err != nil {
		return cmdutil.FileProblem(v.file, err, "name a file in a folder that you can write")
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), v.file)
}
