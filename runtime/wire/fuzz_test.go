package wire_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/mail"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/runtime/wire"
)

// strict says whether a text is strict JSON, by other means than package wire.
func strict(b []byte) bool {
	if !utf8.Valid(b) || !json.Valid(b) || loneSurrogate(b) {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return unique(d) == nil
}

// loneSurrogate looks for escaped halves of surrogate pairs in valid JSON.
func loneSurrogate(b []byte) bool {
	s := string(b)
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			continue
		}
		if i++; s[i] != 'u' {
			continue
		}
		u, _ := strconv.ParseUint(s[i+1:i+5], 16, 32)
		i += 4
		if u < 0xD800 || u > 0xDFFF {
			continue
		}
		if u >= 0xDC00 || !strings.HasPrefix(s[i+1:], `\u`) {
			return true
		}
		low, _ := strconv.ParseUint(s[i+3:i+7], 16, 32)
		if low < 0xDC00 || low > 0xDFFF {
			return true
		}
		i += 6
	}
	return false
}

// unique reads a value and returns an error when a member comes twice or a
// number is too large for a float64.
func unique(d *json.Decoder) error {
	t, err := d.Token()
	if err != nil {
		return err
	}
	switch t := t.(type) {
	case json.Number:
		_, err := t.Float64()
		return err
	case json.Delim:
		seen := map[string]bool{}
		for d.More() {
			if t == '{' {
				name, err := d.Token()
				if err != nil {
					return err
				}
				if seen[name.(string)] {
					return errors.New("duplicate")
				}
				seen[name.(string)] = true
			}
			if err := unique(d); err != nil {
				return err
			}
		}
		_, err = d.Token()
		return err
	}
	return nil
}

// FuzzReader compares the strictness of the Reader with that of encoding/json
// plus what that leaves out, and shows that nothing panics.
// SEMANTICS 7.1.2
func FuzzReader(f *testing.F) {
	for _, in := range accepted {
		f.Add([]byte(in))
	}
	for _, in := range refused {
		if len(in) < 1000 {
			f.Add([]byte(in))
		}
	}
	f.Add([]byte(`{"name":"n","colour":"red","ratio":0.5,"owner":null,"target":{"number":1,"kind":"page"},"tags":["a"],"vault":{}}`))
	limits := wire.Limits{Size: 1 << 20, Depth: 9000, Number: 1 << 20}
	f.Fuzz(func(t *testing.T, in []byte) {
		_, bad := wire.ParseRaw(in, limits)
		if want := strict(in); want != (bad == nil) {
			t.Fatalf("%q: strict %v, have %v", in, want, bad)
		}
		v, bad := wire.Decode[everything](in, wire.Limits{}, &everythingRule)
		if v == nil {
			for _, b := range bad {
				if !utf8.ValidString(b.String()) || b.Keyword == "" || b.Expected == "" || b.Actual == "" {
					t.Fatalf("%q: %#v", in, b)
				}
			}
			return
		}
		if !strict(in) {
			t.Fatalf("%q: decoded but not strict", in)
		}
		out, bad := wire.Append(nil, v)
		if bad != nil {
			t.Fatalf("%q: %v", in, bad)
		}
		again(t, v, out)
	})
}

// again decodes what was encoded.
func again(t *testing.T, v *everything, out []byte) {
	w, bad := wire.Decode[everything](out, wire.Limits{Size: 1 << 20, Number: 400, AnyNumber: true}, &everythingRule)
	if bad != nil {
		t.Fatalf("%s: %v", out, bad)
	}
	twice, bad := wire.Append(nil, w)
	if bad != nil || !bytes.Equal(out, twice) {
		t.Fatalf("%s\nbecomes\n%s\n%v", out, twice, bad)
	}
	// What is kept as text may be written in another way; all else is the same.
	for _, e := range []*everything{v, w} {
		e.Any.V = nil
		for name := range e.Extra {
			e.Extra[name] = nil
		}
	}
	if !reflect.DeepEqual(v, w) {
		t.Fatalf("%+v\nbecomes\n%+v", v, w)
	}
}

// FuzzRoundTrip builds values from parts and reads back what is written of them.
// SEMANTICS 7.4.1
func FuzzRoundTrip(f *testing.F) {
	f.Add("name", 0.25, int64(7), true, "k", `{"a":[1,2.5,"x"]}`)
	f.Add("ü\u2028\x00\"\\", 0.0, int64(-1<<63), false, "", `null`)
	f.Add("\xff", 1e300, int64(1<<63-1), false, "name", `[`)
	f.Fuzz(func(t *testing.T, s string, ratio float64, n int64, set bool, key, raw string) {
		v := &everything{
			Name: s, Colour: "red", Ratio: ratio, Owner: wire.Null[string]{V: "", Valid: false},
			Note:   wire.Opt[wire.Null[string]]{V: wire.NonNull(s), Set: true},
			Point:  wire.Some(point{V0: n, V1: set}),
			Labels: wire.Some(map[string]int64{key: n}),
			Tree:   wire.Some(&tree{Value: n, Children: wire.Some([]tree{{Value: n}})}),
			Any:    wire.Opt[wire.Raw]{V: wire.Raw(raw), Set: true},
			Mode:   wire.NonNull(key), Retries: 3, Limits: limits{Low: n, High: 1},
			Extra: map[string]wire.Raw{key: wire.Raw(raw)},
		}
		if set {
			v.Target = wire.Some[target](&emailTarget{Address: "a@b"})
		}
		out, bad := wire.Append(nil, v)
		if bad != nil {
			if out != nil {
				t.Fatalf("violations and output: %s", out)
			}
			return
		}
		if !json.Valid(out) {
			t.Fatalf("not JSON: %s", out)
		}
		again(t, v, out)
	})
}

// FuzzPattern compares byte classes with the expression that they stand for.
func FuzzPattern(f *testing.F) {
	for _, c := range patterns {
		for _, s := range append(c.yes, c.no...) {
			f.Add(c.source, s)
		}
	}
	f.Fuzz(func(t *testing.T, source, s string) {
		if len(source) > 100 {
			return
		}
		p, err := wire.CompilePattern(source)
		if err != nil || p.Spans == nil || !utf8.ValidString(s) {
			return
		}
		if spans, re2 := wire.MatchBoth(source, s); spans != re2 {
			t.Fatalf("%q on %q: spans %v, RE2 %v", source, s, spans, re2)
		}
	})
}

// FuzzFormats shows that what is accepted is also accepted by the standard
// library, which is laxer but knows the calendar and the syntax of URIs.
func FuzzFormats(f *testing.F) {
	for _, c := range formats {
		for _, s := range append(c.yes, c.no...) {
			f.Add(s)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		for format, layout := range map[wire.Format]string{
			wire.FormatDateTime: time.RFC3339, wire.FormatDate: time.DateOnly, wire.FormatTime: "15:04:05Z07:00",
		} {
			known := strings.Replace(strings.ToUpper(s), ":60", ":59", 1) // package time has no leap seconds
			if _, err := time.Parse(layout, known); format.Match(s) && err != nil {
				t.Fatalf("%s: %q: %v", format, s, err)
			}
		}
		if _, err := url.Parse(s); wire.FormatURI.Match(s) && err != nil && !strings.Contains(s, "[v") && !strings.Contains(s, "[V") {
			t.Fatalf("uri: %q: %v", s, err)
		}
		if _, err := mail.ParseAddress(s); wire.FormatEmail.Match(s) && err != nil && !strings.HasSuffix(s, "]") && !strings.HasPrefix(s, `"`) {
			t.Fatalf("email: %q: %v", s, err)
		}
	})
}
