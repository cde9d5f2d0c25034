package replan

import (
	"encoding/hex"
	"errors"
	"sync"

	"github.com/ambit-tools/ambit/runtime/command/process"
	"github.com/ambit-tools/ambit/runtime/journal"
)

// Programs compares the programs of this host with those that calls ran. A file is hashed when it is
// another one than at the time before. The zero value is ready; it is safe for concurrent use.
type Programs struct{ known sync.Map } // *process.Program by path and hash

// Changed reports whether the file that a process ran is another one now, or gone.
func (s *Programs) Changed(p *journal.Process) bool {
	var sum [32]byte
	if n, err := hex.Decode(sum[:], []byte(p.SHA256)); err != nil || n != len(sum) || p.Program == "" {
		return false // nothing is recorded to compare with
	}
	known, _ := s.known.LoadOrStore([2]string{p.Program, p.SHA256}, &process.Program{Path: p.Program, SHA256: sum})
	f, err := known.(*process.Program).Open()
	if err == nil {
		_ = f.Close() // it was read only
	}
	return errors.Is(err, process.ErrProgramChanged)
}
