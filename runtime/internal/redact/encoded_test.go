package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/ambit-tools/ambit/runtime/internal/redact"
	"github.com/ambit-tools/ambit/runtime/internal/walk"
	"github.com/ambit-tools/ambit/runtime/wire"
)

// written are the ways in which code of the standard library writes a value into a text.
var written = map[string]func(string) string{
	"plain":         func(s string) string { return "refused: " + s },
	"query":         func(s string) string { return "http://h/whoami?token=" + url.QueryEscape(s) },
	"values":        func(s string) string { return url.Values{"a": {"b"}, "token": {s}}.Encode() },
	"query, lower":  func(s string) string { return "http://h/?t=" + lower(url.QueryEscape(s)) },
	"twice":         func(s string) string { return "http://h/?to=" + url.QueryEscape("http://i/?t="+url.QueryEscape(s)) },
	"path":          func(s string) string { return "http://h/tokens/" + url.PathEscape(s) + "/x" },
	"path of a URL": func(s string) string { return (&url.URL{Scheme: "http", Host: "h", Path: "/tokens/" + s}).String() },
	"fragment":      func(s string) string { return (&url.URL{Scheme: "http", Host: "h", Fragment: s}).String() },
	"user": func(s string) string {
		return (&url.URL{Scheme: "http", User: url.UserPassword("svc", s), Host: "h"}).String()
	},
	"user alone": func(s string) string { return (&url.URL{Scheme: "http", User: url.User(s), Host: "h"}).String() },
	"net/http": func(s string) string {
		return (&url.Error{Op: "Get", URL: "http://h/?t=" + url.QueryEscape(s), Err: errors.New("connection refused")}).Error()
	},
	"basic": func(s string) string {
		return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("svc:"+s))
	},
	"basic, b":     func(s string) string { return "Basic " + base64.StdEncoding.EncodeToString([]byte("user:"+s+"!")) },
	"basic, c":     func(s string) string { return "Basic " + base64.URLEncoding.EncodeToString([]byte("me:"+s+"\n")) },
	"base64":       func(s string) string { return base64.RawStdEncoding.EncodeToString([]byte(s)) },
	"base64, form": func(s string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s))) },
	"hex":          func(s string) string { return hex.EncodeToString([]byte(s)) },
	"HEX":          func(s string) string { return fmt.Sprintf("%X", s) },
	"Go":           func(s string) string { return fmt.Sprintf("%q", s) },
	"JSON":         func(s string) string { text, _ := json.Marshal(s); return string(text) },
}

func lower(s string) string {
	out := []byte(s)
	for i := range out {
		if i > 1 && (out[i-1] == '%' || out[i-2] == '%') {
			out[i] = strings.ToLower(s)[i]
		}
	}
	return string(out)
}

// TestEncodedValues: a sensitive value is taken out of a text in each of the encodings that code writes it in, at once
// and in parts, wherever these end.
// SEMANTICS 2.4.4
func TestEncodedValues(t *testing.T) {
	for _, secret := range []string{"aB3/xY+z9/Qw7Lm2Nn8Pp4Rr6Tt==", "p@ss word\"&<ö>#?", "Zugang-4711", "sk_live.51:~*'()!"} {
		for name, write := range written {
			text := "before " + write(secret) + " after"
			var s redact.Secrets
			s.Collect(func() wire.Value {
				return walk.Tokens{{Kind: wire.KindString, Str: secret, Sensitive: true}}
			})
			got := s.Redact(text)
			assert.Contains(t, got, "(sensitive)", "%s of %s", name, secret)
			assert.Contains(t, got, " after")
			held := core(text, write(""))
			assert.NotContains(t, got, held, "%s of %s", name, secret)
			for size := 1; size < 20; size += 3 {
				stream, told := s.Stream(), ""
				for at := 0; at < len(text); at += size {
					stream.Write(text[at:min(at+size, len(text))])
					told += stream.Take()
				}
				told += stream.Rest()
				assert.Equal(t, got, told, "%s of %s in parts of %d", name, secret, size)
			}
		}
	}
}

// core returns what of a text is written for a value, without the characters at its ends that may be those of its
// neighbours too.
func core(text, without string) string {
	from, to := 0, len(text)
	framed := "before " + without + " after"
	for from < len(framed) && text[from] == framed[from] {
		from++
	}
	for n := 0; n < len(framed)-from && text[to-1] == framed[len(framed)-1-n]; n++ {
		to--
	}
	return text[min(from+3, to):max(to-4, from+3)]
}
