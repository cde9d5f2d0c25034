package format

import (
	"net/netip"
	"strings"
)

// Check returns the check of the format with a name, nil when it is none of those of
// JSON Schema that are checked.
func Check(name string) func(text string) bool {
	return checks[name]
}

var checks = map[string]func(string) bool{
	"date-time": isDateTime, "date": isDate, "time": isTime, "duration": isDuration, "uuid": isUUID,
	"ipv4": isIPv4, "ipv6": isIPv6, "uri": isURI, "email": isEmail, "hostname": isHostname,
}

func isDate(s string) bool {
	_, _, ok := date(s)
	return ok
}

func isTime(s string) bool {
	_, ok := clock(s)
	return ok
}

// number2 reads the two digits that s begins with.
func number2(s string) (int, bool) {
	if len(s) < 2 || s[0]-'0' > 9 || s[1]-'0' > 9 {
		return 0, false
	}
	return int(s[0]-'0')*10 + int(s[1]-'0'), true
}

// date reads full-date of RFC 3339 and returns the day and the length of its month.
func date(s string) (day, days int, ok bool) {
	if len(s) != len("2006-01-02") || s[4] != '-' || s[7] != '-' {
		return 0, 0, false
	}
	century, ok1 := number2(s)
	year, ok2 := number2(s[2:])
	month, ok3 := number2(s[5:])
	day, ok4 := number2(s[8:])
	if !(ok1 && ok2 && ok3 && ok4) || month < 1 || month > 12 {
		return 0, 0, false
	}
	year += 100 * century
	days = 30 + (month+month>>3)&1
	if month == 2 {
		days = 28
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			days = 29
		}
	}
	return day, days, day >= 1 && day <= days
}

// A leap says whether a time is a leap second, and on which day in UTC as seen from its own.
type leap struct {
	is  bool
	day int // -1, 0 or 1
}

// clock reads full-time of RFC 3339. A leap second is valid only at 23:59:60 UTC.
func clock(s string) (leap, bool) {
	if len(s) < len("15:04:05Z") || s[2] != ':' || s[5] != ':' {
		return leap{}, false
	}
	hour, ok1 := number2(s)
	minute, ok2 := number2(s[3:])
	second, ok3 := number2(s[6:])
	if !(ok1 && ok2 && ok3) || hour > 23 || minute > 59 || second > 60 {
		return leap{}, false
	}
	s = s[8:]
	if s[0] == '.' {
		n := leadingDigits(s[1:])
		if n == 0 {
			return leap{}, false
		}
		s = s[1+n:]
	}
	east, ok := offset(s)
	if !ok || second < 60 {
		return leap{}, ok
	}
	l := leap{is: true}
	utc := hour*60 + minute - east
	switch {
	case utc < 0:
		l.day = -1
	case utc >= 24*60:
		l.day = 1
	}
	return l, utc-l.day*24*60 == 23*60+59
}

// offset reads time-offset of RFC 3339 and returns the minutes east of UTC.
func offset(s string) (int, bool) {
	if s == "Z" || s == "z" {
		return 0, true
	}
	if len(s) != len("+15:04") || s[0] != '+' && s[0] != '-' || s[3] != ':' {
		return 0, false
	}
	hour, ok1 := number2(s[1:])
	minute, ok2 := number2(s[4:])
	east := hour*60 + minute
	if s[0] == '-' {
		east = -east
	}
	return east, ok1 && ok2 && hour <= 23 && minute <= 59
}

// isDateTime checks date-time of RFC 3339. A leap second ends a month.
func isDateTime(s string) bool {
	if len(s) < 11 || s[10]|0x20 != 't' {
		return false
	}
	day, days, ok1 := date(s[:10])
	l, ok2 := clock(s[11:])
	if !ok1 || !ok2 || !l.is {
		return ok1 && ok2
	}
	return l.day < 0 && day == 1 || l.day >= 0 && day == days-l.day
}

func leadingDigits(s string) int {
	n := 0
	for n < len(s) && s[n]-'0' <= 9 {
		n++
	}
	return n
}

// isDuration checks duration of RFC 3339, appendix A: whole numbers, consecutive
// units, weeks alone.
func isDuration(s string) bool {
	if len(s) < 3 || s[0] != 'P' {
		return false
	}
	s = s[1:]
	if n := leadingDigits(s); n > 0 && s[n:] == "W" {
		return true
	}
	s, dated := units(s, "YMD")
	if s == "" {
		return dated
	}
	if s[0] != 'T' {
		return false
	}
	s, timed := units(s[1:], "HMS")
	return timed && s == ""
}

// units reads numbers with consecutive units.
func units(s, names string) (rest string, some bool) {
	for len(names) > 0 {
		n := leadingDigits(s)
		if n == 0 || n == len(s) {
			return s, some
		}
		i := strings.IndexByte(names, s[n])
		if i < 0 || some && i > 0 {
			return s, some
		}
		s, names, some = s[n+1:], names[i+1:], true
	}
	return s, some
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if s[i] != '-' {
				return false
			}
		} else if !isHex(s[i]) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool { return c-'0' <= 9 || c|0x20 >= 'a' && c|0x20 <= 'f' }

func isAlnum(c byte) bool { return c-'0' <= 9 || c|0x20 >= 'a' && c|0x20 <= 'z' }

// isIPv4 checks a dotted quad; a leading zero would be octal to some.
func isIPv4(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is4()
}

func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && !a.Is4() && a.Zone() == ""
}
