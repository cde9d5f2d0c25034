package wire

import "github.com/ambit-tools/ambit/runtime/wire/internal/format"

// A Format is a format of JSON Schema that is checked.
type Format uint8

// The formats that are checked.
const (
	FormatNone Format = iota
	FormatDateTime
	FormatDate
	FormatTime
	FormatDuration
	FormatUUID
	FormatIPv4
	FormatIPv6
	FormatURI
	FormatEmail
	FormatHostname
)

// formatNames are the names in JSON Schema, in the order of the constants.
var formatNames = [...]string{"", "date-time", "date", "time", "duration", "uuid", "ipv4", "ipv6", "uri", "email", "hostname"}

// formatChecks are the checks of the formats, in the order of the constants.
var formatChecks = func() (checks [len(formatNames)]func(string) bool) {
	for i, name := range formatNames {
		checks[i] = format.Check(name)
	}
	return checks
}()

// ParseFormat returns the format with a name; ok is false when it is not checked.
func ParseFormat(name string) (f Format, ok bool) {
	for i, s := range formatNames {
		if i > 0 && s == name {
			return Format(i), true
		}
	}
	return FormatNone, false
}

// String returns the name of the format.
func (f Format) String() string {
	if int(f) < len(formatNames) {
		return formatNames[f]
	}
	return "unknown"
}

// match reports whether a string has the format.
func (f Format) match(s string) bool {
	return int(f) >= len(formatChecks) || f == FormatNone || formatChecks[f](s)
}
