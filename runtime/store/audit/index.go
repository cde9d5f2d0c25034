package audit

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/ambit-tools/ambit/runtime/journal"
)

// checkIndex returns what is wrong with the index of an entry, judged by its
// leaf; nothing: "". With thorough it decodes the leaf in any case. Otherwise it
// does only if it cannot tell from the first bytes, in which journal.Encode puts
// the members of the index in a known order. The leaf as such is what the tree
// proves.
func checkIndex(e *journal.Entry, thorough bool) string {
	if !thorough && agrees(e) {
		return ""
	}
	r, err := journal.Decode(e.Leaf)
	if err != nil {
		return err.Error()
	}
	if field := e.Disagreement(r); field != "" {
		return fmt.Sprintf("the index says another %s than the leaf", field)
	}
	return ""
}

// agrees says that a leaf begins as one does whose entry has this index. False
// says nothing.
func agrees(e *journal.Entry) bool {
	var buf [len(time.RFC3339Nano)]byte
	p := prefix{e.Leaf, true}
	p.text(`{"event":"`, e.Kind)
	p.bytes(`,"at":"`, e.At.AppendFormat(buf[:0], time.RFC3339Nano))
	p.member(`,"session":"`, e.Session)
	p.member(`,"run":"`, e.Run)
	p.passNumber(`,"turn":`)
	p.pass(`,"request_id":"`)
	p.pass(`,"agent":"`)
	p.pass(`,"principal":"`)
	p.member(`,"call":"`, e.Call)
	p.member(`,"tool":"`, e.Tool)
	p.mark(e.Mark)
	return p.ok
}

// A prefix is what is left of a leaf.
type prefix struct {
	rest []byte
	ok   bool
}

// take steps over a text, and says whether it was there.
func (p *prefix) take(s string) bool {
	if len(p.rest) < len(s) || string(p.rest[:len(s)]) != s {
		return false
	}
	p.rest = p.rest[len(s):]
	return true
}

// text steps over a member whose value must be s. A value in which JSON may spell
// a character in another way is left to the decoder.
func (p *prefix) text(name, s string) {
	p.ok = p.ok && p.take(name) && p.take(s) && p.take(`"`) && strings.IndexByte(s, '"') < 0 && strings.IndexByte(s, '\\') < 0
}

func (p *prefix) bytes(name string, s []byte) {
	p.ok = p.ok && p.take(name) && bytes.HasPrefix(p.rest, s)
	if p.ok {
		p.rest = p.rest[len(s):]
		p.ok = p.take(`"`)
	}
}

// member steps over a member that is there unless its value is empty.
func (p *prefix) member(name, s string) {
	if s != "" {
		p.text(name, s)
		return
	}
	p.ok = p.ok && !bytes.HasPrefix(p.rest, []byte(name))
}

// pass steps over a member that is no part of the index.
func (p *prefix) pass(name string) {
	if !p.ok || !p.take(name) {
		return
	}
	end := bytes.IndexByte(p.rest, '"')
	if p.ok = end >= 0 && bytes.IndexByte(p.rest[:end], '\\') < 0; p.ok {
		p.rest = p.rest[end+1:]
	}
}

// passNumber steps over a member that is a count and no part of the index.
func (p *prefix) passNumber(name string) {
	if !p.ok || !p.take(name) {
		return
	}
	rest := bytes.TrimLeft(p.rest, "0123456789")
	p.ok = len(rest) < len(p.rest) && len(rest) > 0 && (rest[0] == ',' || rest[0] == '}')
	p.rest = rest
}

func (p *prefix) mark(m journal.Mark) {
	if m == journal.MarkNone {
		p.ok = p.ok && !bytes.HasPrefix(p.rest, []byte(`,"mark":`))
		return
	}
	p.ok = p.ok && m < 10 && p.take(`,"mark":`) && p.take(string([]byte{'0' + byte(m)})) &&
		len(p.rest) > 0 && (p.rest[0] == ',' || p.rest[0] == '}')
}
