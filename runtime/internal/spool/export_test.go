package spool

import (
	"os"

	"github.com/ambit-tools/ambit/runtime/command/process"
)

// Break makes a file take no more writes, as on a full disk, until repair is called.
func (s *Spool) Break(i process.Stream) (repair func(), err error) {
	f := s.files[i]
	was := f.f
	f.f, err = os.Open(was.Name())
	return func() {
		_ = f.f.Close()
		f.f = was
	}, err
}
