package location

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A URL is an absolute one, with a host and without user info.
type URL struct {
	Scheme string // in small letters
	Host   string // as a client of Go connects to it, in one of its spellings
	port   int    // 0: none is named
	path   string // decoded
	full   *url.URL
}

// ParseURL reads a URL as net/url does. It refuses what a rule about parts of URLs
// would be deceived by: user info, and hosts and ports that clients read in
// different ways (SEMANTICS 7.5).
func ParseURL(text string) (*URL, error) {
	u, err := url.Parse(text)
	if err != nil {
		if inner, ok := errors.AsType[*url.Error](err); ok {
			err = inner.Err // without the URL
		}
		return nil, fmt.Errorf("not a URL: %w", err)
	}
	switch {
	case u.User != nil:
		return nil, errors.New("the URL has user info: what stands before the @ is no host")
	case u.Scheme == "" || u.Opaque != "" || u.Host == "":
		return nil, errors.New("not an absolute URL with a host, such as https://example.com/")
	}
	host, err := canonicalHost(u)
	if err != nil {
		return nil, err
	}
	port := 0
	if text := u.Port(); text != "" {
		if port, err = strconv.Atoi(text); err != nil || port < 1 || port > 65535 {
			return nil, fmt.Errorf("no port has the number %s", text)
		}
	}
	return &URL{Scheme: u.Scheme, Host: host, port: port, path: u.Path, full: u}, nil
}

// maxHost is how long a name may be, as RFC 1035 has it.
const maxHost = 253

// canonicalHost returns one spelling of the host of a URL.
func canonicalHost(u *url.URL) (string, error) {
	host := u.Hostname()
	if strings.HasPrefix(u.Host, "[") {
		addr, err := netip.ParseAddr(host)
		if err != nil || !addr.Is6() || addr.Zone() != "" {
			return "", errors.New("the host is not an IPv6 address without a zone")
		}
		return addr.Unmap().String(), nil
	}
	host = strings.TrimSuffix(host, ".")
	if len(host) > maxHost {
		return "", fmt.Errorf("the host is longer than %d characters", maxHost)
	}
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if label == "" {
			return "", errors.New("the host has an empty label")
		}
		if strings.ContainsFunc(label, func(r rune) bool { return !isHostRune(r) }) {
			return "", errors.New("the host has a character other than letters, digits, - and _ of ASCII: names in other letters are written as xn--")
		}
	}
	if isNumber(strings.ToLower(labels[len(labels)-1])) {
		// Some clients read 127.1, 0x7f.0.0.1 and 2130706433 as addresses, some as names.
		addr, err := netip.ParseAddr(host)
		if err != nil {
			return "", errors.New("the host ends in a number and is not an IPv4 address of four decimal numbers")
		}
		return addr.String(), nil
	}
	return strings.ToLower(host), nil
}

// isHostRune says that a host may have a character.
func isHostRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
}

// isNumber says that a label is a decimal, octal or hexadecimal number.
func isNumber(label string) bool {
	digits, hex := strings.CutPrefix(label, "0x")
	return strings.IndexFunc(digits, func(r rune) bool {
		return !(r >= '0' && r <= '9' || hex && r >= 'a' && r <= 'f')
	}) < 0
}

// Path returns the path, decoded, / when there is none. It refuses what servers resolve in different ways.
func (u *URL) Path() (string, error) {
	if !utf8.ValidString(u.path) || strings.ContainsFunc(u.path, unicode.IsControl) {
		return "", errors.New("the path has a control character or is not UTF-8")
	}
	for segment := range strings.FieldsFuncSeq(u.path, func(r rune) bool { return r == '/' || r == '\\' }) {
		if segment == "." || segment == ".." {
			return "", errors.New(`the path has a segment "." or ".."`)
		}
	}
	if u.path == "" {
		return "/", nil
	}
	return u.path, nil
}

// schemePorts are the ports of schemes.
var schemePorts = map[string]int{"http": 80, "https": 443, "ws": 80, "wss": 443, "ftp": 21, "ssh": 22}

// Port returns the port to which a client connects.
func (u *URL) Port() (int, error) {
	if u.port != 0 {
		return u.port, nil
	}
	port, ok := schemePorts[u.Scheme]
	if !ok {
		return 0, fmt.Errorf("the URL names no port, and none is known for the scheme %s", u.Scheme)
	}
	return port, nil
}

// ParsePlainURL is ParseURL for a URL whose path has no element that is empty or leads elsewhere, however it is
// encoded. One slash may end the path.
func ParsePlainURL(text string) (*URL, error) {
	u, err := ParseURL(text)
	if err != nil {
		return nil, err
	}
	if _, err := u.elements(); err != nil {
		return nil, err
	}
	if rest := u.full.RawQuery + u.full.Fragment; u.path == "" && strings.ContainsAny(rest, `@\`) {
		return nil, errors.New("a query or fragment stands right behind the host and has an @ or a backslash: some clients read another host")
	}
	return u, nil
}

// elements returns the elements of the path as they are written.
func (u *URL) elements() ([]string, error) {
	text := strings.TrimSuffix(strings.TrimPrefix(u.full.EscapedPath(), "/"), "/")
	if text == "" {
		if len(u.path) > 1 {
			return nil, errors.New("the path has an empty element")
		}
		return nil, nil
	}
	if err := legible(text); err != nil {
		return nil, err
	}
	list := strings.Split(text, "/")
	if slices.Contains(list, "") || slices.ContainsFunc(list, isDots) {
		return nil, errors.New(`the path has an element that is empty, "." or ".."`)
	}
	return list, nil
}

// IsPlace reports whether u has neither a query nor a fragment.
func (u *URL) IsPlace() bool {
	return u.full.RawQuery == "" && !u.full.ForceQuery && u.full.Fragment == ""
}

// Within reports whether u is a place or below it: scheme, host and port are the same, and the elements of the path
// begin with those of the place. It is false where either is not plain.
func (u *URL) Within(place *URL) bool {
	mine, err := u.elements()
	theirs, wrong := place.elements()
	return err == nil && wrong == nil && u.Scheme == place.Scheme && u.Host == place.Host && u.knownPort() == place.knownPort() &&
		begins(mine, theirs)
}

// knownPort is Port with 0 where there is no answer.
func (u *URL) knownPort() int {
	port, err := u.Port()
	if err != nil {
		return 0
	}
	return port
}
