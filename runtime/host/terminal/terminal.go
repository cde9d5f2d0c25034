package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/ambit-tools/ambit/runtime"
	"github.com/ambit-tools/ambit/runtime/action"
	"github.com/ambit-tools/ambit/runtime/consent"
)

// An Option changes how a terminal looks.
type Option func(*console)

// WithColour sets whether the terminal shows colors. By default it does when it
// writes to a terminal, unless NO_COLOR is set.
func WithColour(on bool) Option {
	return func(c *console) { c.colour = palette(on) }
}

// WithGroups sets the groups of the person, as the component that authenticated it knows them: names without the
// prefix group: of approvers.
func WithGroups(names ...string) Option {
	return func(c *console) { c.by.Groups = names }
}

// New returns an approver that asks the person who sits at in and out and whose
// authenticated id is by. The person answers as a member of the groups of [WithGroups] too. A file that is not a terminal is refused with
// ErrNoTerminal; for anything else, such as a session over a network, the caller
// vouches. Nothing is read before Serve.
func New(by string, in io.Reader, out io.Writer, opts ...Option) (*Approver, error) {
	c := &console{by: runtime.ProgramActor(by), out: out}
	for _, stream := range []any{in, out} {
		f, isFile := stream.(*os.File)
		if isFile && !term.IsTerminal(int(f.Fd())) {
			return nil, ErrNoTerminal
		}
		c.colour = palette(isFile && os.Getenv("NO_COLOR") == "")
	}
	for _, opt := range opts {
		opt(c)
	}
	if err := c.by.Check(); err != nil {
		return nil, fmt.Errorf("a terminal needs the id and the groups of the person who sits there: %w", err)
	}
	return newApprover(c.by, func(ctx context.Context) (answerer, error) {
		c.lines = readLines(ctx, in)
		return c, nil
	}), nil
}

// A console carries on the conversation in lines of text.
type console struct {
	by     runtime.Actor
	out    io.Writer
	colour palette
	lines  <-chan string // closed at the end of the input
}

// maxLine bounds what is kept of one line.
const maxLine = 64 << 10

// readLines reads lines until the input or ctx ends. A reader that blocks keeps
// its goroutine: there is no other way to stop reading a terminal.
func readLines(ctx context.Context, in io.Reader) <-chan string {
	lines := make(chan string)
	go func() {
		defer close(lines)
		s := bufio.NewScanner(in)
		s.Buffer(nil, maxLine)
		for s.Scan() {
			select {
			case lines <- s.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return lines
}

// errNoMore ends a conversation that cannot go on.
var errNoMore = errors.New("the input of the terminal has ended: nobody can be asked any more")

// errGone says that the request has ended before it was answered.
var errGone = errors.New("the request has ended")

// idle implements answerer: what is typed while nothing is asked answers nothing.
func (c *console) idle(ctx context.Context) error {
	for {
		select {
		case _, ok := <-c.lines:
			if !ok {
				return errNoMore
			}
		case <-ctx.Done():
			return nil
		}
	}
}

// read prompts for a line.
func (c *console) read(ctx context.Context, prompt string) (string, error) {
	fmt.Fprintf(c.out, "%s> ", prompt)
	select {
	case line, ok := <-c.lines:
		if !ok {
			fmt.Fprintln(c.out)
			return "", errNoMore
		}
		return line, nil
	case <-ctx.Done():
		return "", errGone
	}
}

// answer implements answerer.
func (c *console) answer(ctx context.Context, r *consent.Notice) (action.Answer, bool, error) {
	d := dialogue{console: c, r: r, whole: false}
	d.show()
	a, err := d.choose(ctx)
	switch {
	case errors.Is(err, errGone):
		fmt.Fprintf(c.out, "\n%s\n", c.colour.yellow("This request has ended: it was answered elsewhere, ran out or is not wanted any more."))
		return action.Answer{}, false, nil
	case err != nil:
		return action.Answer{}, false, err
	}
	return a, true, nil
}

// told implements answerer.
func (c *console) told(r *consent.Notice, res action.Resolution) {
	switch {
	case res.Kind == runtime.ResolutionRejected:
		why := res.Reason.String()
		if res.Detail != "" {
			why += ": " + Escape(res.Detail)
		}
		fmt.Fprintf(c.out, "%s\n", c.colour.red("Not taken: "+why+"."))
	case res.Kind == runtime.ResolutionRecorded:
		fmt.Fprintf(c.out, "Recorded. %s.\n", wanted(res.Missing))
	case res.Outcome == nil:
		fmt.Fprintln(c.out, "Accepted.")
	default:
		text := "Accepted. " + r.Tool + ": " + res.Outcome.Kind.String()
		if reason := res.Outcome.Reason.String(); reason != "" {
			text += ", " + reason
		}
		fmt.Fprintln(c.out, Escape(text)+".")
	}
}

// wanted says how many approvals are.
func wanted(n int) string {
	if n == 1 {
		return "1 more approval is wanted"
	}
	return fmt.Sprintf("%d more approvals are wanted", n)
}
