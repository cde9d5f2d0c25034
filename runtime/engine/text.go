package engine

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/runtime/rules"
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

// truncate returns a message, cut when it is longer than maxMessage.
func truncate(message string) string {
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

// validUTF8 returns a name or an id that came from outside in a form that can be recorded: valid
// UTF-8.
func validUTF8(name string) string {
	if utf8.ValidString(name) { // which is several times faster
		return name
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}

// quote quotes a name or an id that came from outside, and cuts it when it is too long.
func quote(name string) string {
	n := 0
	for i := range name {
		if n++; n > maxQuoted {
			return strconv.Quote(name[:i]) + "..."
		}
	}
	return strconv.Quote(name)
}

// joinNames joins names, the first maxListed of them.
func joinNames(names []string) string {
	if len(names) <= maxListed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxListed], ", "), len(names)-maxListed)
}

// plural returns one for n = 1, and many formatted with n otherwise.
func plural[N int | int64](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return fmt.Sprintf(many, n)
}

// formatWait prints a wait or a remaining time for people: 90s, 2s, 250ms.
func formatWait(d time.Duration) string { return rules.Wait(d) }

// formatLimit prints a declared or remaining bound for people, rounded up to the millisecond: 1.5s,
// 250ms.
func formatLimit(d time.Duration) string {
	if up := d % time.Millisecond; up > 0 {
		d += time.Millisecond - up
	}
	if d < time.Second {
		return formatWait(d)
	}
	return strconv.FormatFloat(float64(d.Milliseconds())/1000, 'f', -1, 64) + "s"
}

// violationList joins violations to one text.
func violationList(violations []wire.Violation) string {
	texts := make([]string, len(violations))
	for i, v := range violations {
		texts[i] = v.String()
	}
	return strings.Join(texts, "; ")
}
