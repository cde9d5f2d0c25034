package runtime

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/runtime/wire"
)

const (
	// maxListed is how many names or violations a message lists.
	maxListed = 50
	// maxMessage is how many bytes an Outcome's message has.
	maxMessage = 8 << 10
	// maxQuoted is how many characters of a name or an id a text quotes.
	maxQuoted = 64
)

// limited returns a message, cut when it is too long.
func limited(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return cutMessage(message)
}

// cutMessage is limited for a message that is too long.
func cutMessage(message string) string {
	ending := fmt.Sprintf("... (cut here: it has %d bytes)", len(message))
	cut := maxMessage - len(ending)
	for !utf8.RuneStart(message[cut]) {
		cut--
	}
	return message[:cut] + ending
}

// readable returns a name or an id that somebody else has made up as it can be
// recorded: valid UTF-8.
func readable(name string) string {
	if utf8.ValidString(name) { // which is several times faster
		return name
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}

// quote quotes a name or an id that somebody else has made up, cut when it is
// too long.
func quote(name string) string {
	n := 0
	for i := range name {
		if n++; n > maxQuoted {
			return strconv.Quote(name[:i]) + "..."
		}
	}
	return strconv.Quote(name)
}

// list joins names, the first maxListed of them.
func list(names []string) string {
	if len(names) <= maxListed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), len(names)-maxListed)
}

// seconds prints d for people: 90s, 0.25s, 1ms.
func seconds(d time.Duration) string {
	switch {
	case d >= time.Second:
		d = d.Round(10 * time.Millisecond)
	case d >= 10*time.Millisecond:
		d = d.Round(time.Millisecond)
	case d > 0:
		return strconv.FormatInt(max(d.Round(time.Millisecond), time.Millisecond).Milliseconds(), 10) + "ms"
	}
	return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s"
}

// invalidInput tells a model what is wrong with its arguments.
func invalidInput(violations []wire.Violation) string {
	if len(violations) == 0 {
		return "the input could not be checked"
	}
	texts := make([]string, 0, min(len(violations), maxListed+1))
	for i, v := range violations {
		if i == maxListed {
			texts = append(texts, fmt.Sprintf("and %d more", len(violations)-maxListed))
			break
		}
		texts = append(texts, v.String())
	}
	return "the input is invalid: " + strings.Join(texts, "; ")
}

// handlerMessage tells a model that the handler failed, and how if the tool says
// that its error texts are safe.
func (c *call) handlerMessage(fault *CallError) string {
	if c.tool.spec.SafeErrors {
		return c.scrub(fault.text())
	}
	return fmt.Sprintf("%q failed", c.record.tool)
}

// errorText returns the text of err, whose Error method may panic.
func errorText(err error) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprintf("%T, whose Error method panics", err)
		}
	}()
	return err.Error()
}

// explain tells an operator what stands behind a refusal.
func explain(out *Outcome) string {
	if len(out.Violations) > 0 {
		return violationList(out.Violations)
	}
	texts := make([]string, len(out.Denials))
	for i, d := range out.Denials {
		texts[i] = strings.TrimSpace(fmt.Sprintf("%s %s %s", d.Code, at(d.At), d.Message))
	}
	return strings.Join(texts, "; ")
}

// judged puts what the worker of a dry call knows into the ending: the worker
// may still be busy when somebody else ends the call.
func (c *call) judged(e *ending) {
	if e.verdict == nil {
		e.verdict = &Verdict{}
	}
	e.verdict.Decision = c.worker.judge.decision
	e.verdict.Input = encoded(c.final)
}

// verdict is what WhatIf returns of an ended dry call.
func (c *call) verdict() Verdict {
	v := Verdict{Input: encoded(c.args)} // the judgement was given up, or not begun
	if c.found != nil {
		v = *c.found
	}
	if v.Runs {
		return v
	}
	v.Outcome = c.record.outcome()
	s := c.run.session
	s.mu.Lock()
	defer s.mu.Unlock()
	c.stand(&v.Outcome)
	return v
}
