package format

import "strings"

const (
	subDelims  = "!$&'()*+,;="
	unreserved = "-._~"
)

// isURI checks URI of RFC 3986: it has a scheme, and only ASCII.
func isURI(s string) bool {
	scheme, rest, ok := strings.Cut(s, ":")
	if !ok || scheme == "" || scheme[0]|0x20 < 'a' || scheme[0]|0x20 > 'z' {
		return false
	}
	for i := range len(scheme) {
		if !isAlnum(scheme[i]) && strings.IndexByte("+-.", scheme[i]) < 0 {
			return false
		}
	}
	rest, fragment, _ := strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	if !made(fragment, subDelims+":@/?") || !made(query, subDelims+":@/?") {
		return false
	}
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		slash := strings.IndexByte(after, '/')
		if slash < 0 {
			slash = len(after)
		}
		if !isAuthority(after[:slash]) {
			return false
		}
		rest = after[slash:]
	}
	return made(rest, subDelims+":@/")
}

// isAuthority checks [ userinfo "@" ] host [ ":" port ].
func isAuthority(s string) bool {
	if at := strings.IndexByte(s, '@'); at >= 0 {
		if !made(s[:at], subDelims+":") {
			return false
		}
		s = s[at+1:]
	}
	var port string
	if strings.HasPrefix(s, "[") {
		end := strings.IndexByte(s, ']')
		if end < 0 || !isIPLiteral(s[1:end]) {
			return false
		}
		if port = s[end+1:]; port != "" && port[0] != ':' {
			return false
		}
		port = strings.TrimPrefix(port, ":")
	} else {
		var host string
		host, port, _ = strings.Cut(s, ":")
		if !made(host, subDelims) {
			return false
		}
	}
	return leadingDigits(port) == len(port)
}

// isIPLiteral checks what stands between the brackets of a host.
func isIPLiteral(s string) bool {
	if s == "" || s[0]|0x20 != 'v' {
		return isIPv6(s)
	}
	version, address, ok := strings.Cut(s[1:], ".")
	if !ok || version == "" || address == "" || strings.Contains(address, "%") {
		return false
	}
	for i := range len(version) {
		if !isHex(version[i]) {
			return false
		}
	}
	return made(address, subDelims+":")
}

// made reports whether s consists of unreserved characters, percent encodings
// and the characters of the second argument.
func made(s, others string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case isAlnum(c) || strings.IndexByte(unreserved, c) >= 0 || strings.IndexByte(others, c) >= 0:
		case c == '%' && i+2 < len(s) && isHex(s[i+1]) && isHex(s[i+2]):
			i += 2
		default:
			return false
		}
	}
	return true
}

// isEmail checks Mailbox of RFC 5321 with its limits of 64 and 254 octets.
func isEmail(s string) bool {
	at := strings.LastIndexByte(s, '@')
	if at < 1 || at > 64 || len(s) > 254 {
		return false
	}
	local, domain := s[:at], s[at+1:]
	if local[0] == '"' {
		if !isQuoted(local) {
			return false
		}
	} else {
		for atom := range strings.SplitSeq(local, ".") {
			if atom == "" || strings.ContainsFunc(atom, func(c rune) bool {
				return c >= 0x80 || !isAlnum(byte(c)) && !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", c)
			}) {
				return false
			}
		}
	}
	if literal, ok := strings.CutPrefix(domain, "["); ok {
		literal, ok = strings.CutSuffix(literal, "]")
		if six, is6 := cutPrefixFold(literal, "IPv6:"); is6 {
			return ok && isIPv6(six)
		}
		return ok && isIPv4(literal)
	}
	return isHostname(domain)
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// isQuoted checks Quoted-string of RFC 5321.
func isQuoted(s string) bool {
	if len(s) < 2 || s[len(s)-1] != '"' {
		return false
	}
	s = s[1 : len(s)-1]
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == '\\' {
			if i++; i == len(s) {
				return false
			}
			c = s[i]
		} else if c == '"' {
			return false
		}
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
