package inbox

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/engine"
)

// look begins to carry out the commands that it finds, in the order of their names,
// which is that in which they were put.
func (s *Server) look(ctx context.Context) error {
	list, err := os.ReadDir(s.dir)
	if err != nil {
		return err
	}
	there := make(map[string]bool, len(list))
	for _, entry := range list {
		name := entry.Name()
		if !strings.HasSuffix(name, suffix) {
			continue
		}
		there[name] = true
		select {
		case <-s.stop:
			return nil
		default:
		}
		if s.first(name) {
			s.take(ctx, name)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.seen {
		if !there[name] {
			delete(s.seen, name)
		}
	}
	return nil
}

// first notes that a file was seen, and reports whether it was not before.
func (s *Server) first(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	was := s.seen[name]
	s.seen[name] = true
	return !was
}

// take carries out the command of a file. It returns when that is done, or after
// patience, so that the next commands do not wait any longer.
func (s *Server) take(ctx context.Context, name string) {
	c, err := s.read(name)
	if err != nil {
		s.report(fmt.Errorf("a command was refused, and its file %q removed: %w", name, err))
		s.remove(name)
		return
	}
	select {
	case s.slots <- struct{}{}:
	case <-s.stop: // it waits for the next start
		return
	}
	done := make(chan struct{})
	s.work.Go(func() {
		defer func() { <-s.slots }()
		defer close(done)
		_, err := s.execute(ctx, c)
		if err != nil && !errors.Is(err, engine.ErrCommandKnown) {
			s.report(fmt.Errorf("the command of %q to %s waits in the inbox for the next start: %w", c.By, c.Kind, err))
			return
		}
		s.remove(name)
	})
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-done:
	case <-t.C:
	case <-s.stop:
	}
}

var errNoFile = errors.New("it is no file")

// read returns the command of a file.
func (s *Server) read(name string) (c Command, err error) {
	// A process that may write the directory can replace the file at any time. So read
	// checks the file that it has opened, and the open follows no link and does not
	// block, as it would on a FIFO without a writer.
	f, err := openCommand(filepath.Join(s.dir, name))
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return c, err
	}
	if !info.Mode().IsRegular() {
		return c, errNoFile
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxCommand+1))
	if err == nil && len(text) > MaxCommand {
		err = fmt.Errorf("it has more than %d bytes", MaxCommand)
	}
	if err != nil {
		return c, err
	}
	if c, err = open(s.key, text); err != nil {
		return c, err
	}
	if err := checkOwner(info, c.By); err != nil {
		return c, err
	}
	user := c.By
	c.Method, c.tokens, c.logins, c.archiver = s.methodOf(user), s.tokens, s.logins, s.archiver
	if c.By, c.Groups = s.identity(user); c.By == "" || strings.HasPrefix(c.By, "group:") {
		return c, fmt.Errorf("the user %q is nobody who may give commands", user)
	}
	if c.By != user {
		c.User = user
	}
	return c, nil
}

// methodOf returns how a user of the operating system acts: as the owner of the store, who is the user
// of this process, or as another user who was given access to it.
func (s *Server) methodOf(user string) runtime.ActorMethod {
	if user == s.owner || user == superuser() {
		return runtime.MethodOwner
	}
	return runtime.MethodUser
}

// remove takes a file away that needs no other look.
func (s *Server) remove(name string) {
	if err := os.Remove(filepath.Join(s.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		s.report(fmt.Errorf("the file of a command stays in the inbox, and is not carried out again: %w", err))
	}
}
