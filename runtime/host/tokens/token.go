package tokens

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/ambit-tools/ambit/runtime"
)

// Method is how the actor of a token was authenticated.
const Method runtime.ActorMethod = "token"

const (
	prefix     = "ambit_" // by which scanners for leaked secrets find tokens
	nameSize   = 12       // characters of a name, of 32 kinds
	secretSize = 32       // random bytes
	maxID      = 256      // bytes of an id or a group
	maxGroups  = 64
)

// A Token is what is kept of a token. It is no secret.
type Token struct {
	Name    string    `json:"name"` // public: by which it is listed and revoked
	SHA256  string    `json:"sha256,omitempty"`
	ID      string    `json:"id,omitempty"`
	Groups  []string  `json:"groups,omitempty"`
	Created time.Time `json:"created,omitzero"`
}

// New makes a token for an id and its groups. text is what its holder sends; it cannot be had again.
func New(id string, groups []string) (t Token, text string, err error) {
	secret := make([]byte, secretSize)
	_, _ = rand.Read(secret) // never fails
	name := rand.Text()[:nameSize]
	text = prefix + name + "_" + base64.RawURLEncoding.EncodeToString(secret)
	t = Token{Name: name, SHA256: hashOf(text), ID: id, Groups: groups, Created: time.Now().UTC().Truncate(time.Second)}
	if err := t.check(); err != nil {
		return t, text, err
	}
	return t, text, t.actor().Check()
}

// check says what is wrong with a token.
func (t *Token) check() error {
	if len(t.Name) != nameSize || strings.Trim(t.Name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") != "" {
		return errors.New("a token has a name of 12 letters and digits")
	}
	if sum, err := hex.DecodeString(t.SHA256); err != nil || len(sum) != sha256.Size {
		return errors.New("a token has a SHA-256 sum")
	}
	if err := checkName("the id", t.ID); err != nil {
		return err
	}
	if len(t.Groups) > maxGroups {
		return fmt.Errorf("a token has at most %d groups", maxGroups)
	}
	for _, g := range t.Groups {
		if err := checkName("a group", g); err != nil {
			return err
		}
	}
	return nil
}

// checkName refuses an id or a group that no approver could name, or that reads as another.
func checkName(what, name string) error {
	switch {
	case name == "":
		return errors.New(what + " of a token is empty")
	case len(name) > maxID:
		return fmt.Errorf("%s of a token has more than %d bytes", what, maxID)
	case strings.HasPrefix(name, "group:"):
		return errors.New(what + " of a token begins with group:, by which approvers name a group")
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New(what + " of a token has characters that cannot be printed")
	}
	return nil
}

// actor returns whose token it is.
func (t *Token) actor() runtime.Actor {
	return runtime.Actor{ID: t.ID, Groups: t.Groups, Method: Method}
}

// is reports whether text is the token, in a time that does not depend on how much of it is right.
func (t *Token) is(text string) bool {
	return subtle.ConstantTimeCompare([]byte(t.SHA256), []byte(hashOf(text))) == 1
}

// nameIn returns the name of the token whose text this is, if it is one.
func nameIn(text string) (string, bool) {
	rest, ok := strings.CutPrefix(text, prefix)
	if !ok {
		return "", false
	}
	name, _, ok := strings.Cut(rest, "_")
	return name, ok
}

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
