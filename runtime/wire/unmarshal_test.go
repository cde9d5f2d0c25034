package wire_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/ambit-tools/ambit/runtime/wire"
)

type embedded struct {
	Name string `json:"name"`
}

// everyKind is a type with every kind of member that Unmarshal reads.
type everyKind struct {
	embedded
	Approve *bool               `json:"approve"`
	Count   int                 `json:"count,omitempty"`
	Small   uint8               `json:"small"`
	Ratio   float64             `json:"ratio"`
	At      time.Time           `json:"at,omitzero"`
	Raw     json.RawMessage     `json:"raw"`
	Bytes   []byte              `json:"bytes"`
	List    []embedded          `json:"list"`
	Map     map[string]embedded `json:"map"`
	Op      level               `json:"op"`
	Untaged string
	Left    string `json:"-"`
	hidden  string
}

// level reads itself from a text.
type level string

func (l *level) UnmarshalText(text []byte) error {
	if string(text) != "high" {
		return assert.AnError
	}
	*l = "!"
	return nil
}

func TestUnmarshal(t *testing.T) {
	text := `{"name":"n","approve":true,"count":3,"small":255,"ratio":0.5,"at":"2026-01-02T03:04:05Z","raw":{"b": 1, "a":1.0},` +
		`"bytes":"AAE=","list":[{"name":"x"},{}],"map":{"k":{"name":"y"}},"op":"high","Untaged":"u"}`
	var v everyKind
	require.Empty(t, wire.Unmarshal([]byte(text), wire.Limits{}, &v))
	yes := true
	assert.Equal(t, everyKind{
		embedded: embedded{"n"}, Approve: &yes, Count: 3, Small: 255, Ratio: 0.5, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Raw: json.RawMessage(`{"b": 1, "a":1.0}`), Bytes: []byte{0, 1}, List: []embedded{{"x"}, {}}, Map: map[string]embedded{"k": {"y"}}, Op: "!", Untaged: "u",
	}, v)
	v = everyKind{}
	require.Empty(t, wire.Unmarshal([]byte(`{"approve":null,"list":null,"map":null,"bytes":null,"raw":null}`), wire.Limits{}, &v))
	assert.Equal(t, everyKind{Raw: json.RawMessage("null")}, v)
}

// TestUnmarshalRefuses: what two readers of a text could read as two values is refused, and the place is named.
func TestUnmarshalRefuses(t *testing.T) {
	for text, want := range map[string]string{
		`{"approve":false,"approve":true}`:      "/approve: duplicate: ",
		`{"approve":false,"\u0061pprove":true}`: "/approve: duplicate: ",
		`{"APPROVE":true}`:                      "/APPROVE: additionalProperties: ",
		`{"approve":true,"by":"bob"}`:           "/by: additionalProperties: ",
		`{"Left":"x"}`:                          "/Left: additionalProperties: ",
		`{"hidden":"x"}`:                        "/hidden: additionalProperties: ",
		`{"untaged":"x"}`:                       `did you mean "Untaged"?`,
		`{"approve":1}`:                         "/approve: type: want boolean",
		`{"approve":"true"}`:                    "/approve: type: ",
		`{"name":null}`:                         "/name: type: ",
		`{"count":null}`:                        "/count: type: ",
		`{"at":null}`:                           "/at: type: ",
		`{"op":null}`:                           "/op: type: ",
		`{"op":"low"}`:                          "/op: type: ",
		`{"at":"yesterday"}`:                    "/at: type: ",
		`{"small":256}`:                         "/small: type: ",
		`{"small":-1}`:                          "/small: type: ",
		`{"count":1.5}`:                         "/count: type: ",
		`{"bytes":"A"}`:                         "/bytes: type: ",
		`{"raw":{"a":1,"a":2}}`:                 "/raw/a: duplicate: ",
		`{"list":[{"name":"a","name":"b"}]}`:    "/list/0/name: duplicate: ",
		`{"list":[{"NAME":"a"}]}`:               "/list/0/NAME: additionalProperties: ",
		`{"list":{}}`:                           "/list: type: ",
		`{"map":{"k":{},"k":{}}}`:               "/map/k: duplicate: ",
		`{"map":[]}`:                            "/map: type: ",
		`{} {}`:                                 "(root): json: ",
		`{}x`:                                   "(root): json: ",
		`[]`:                                    "(root): type: want object",
		`null`:                                  "(root): type: ",
		``:                                      "(root): json: ",
		`{"name":"a"`:                           "json: ",
		"{\"name\":\"\xff\"}":                   "/name: json: ",
		"\ufeff{}":                              "(root): json: ",
		`{"name":"\ud800"}`:                     "/name: ",
		`{"raw":` + strings.Repeat("[", 200) + `]}`:      "depth: ",
		`{"name":"` + strings.Repeat("x", 70_000) + `"}`: "(root): size: ",
	} {
		bad := wire.Unmarshal([]byte(text), wire.Limits{}, new(everyKind))
		if assert.NotEmpty(t, bad, text) {
			assert.Contains(t, bad[0].String(), want, text)
		}
	}
}

// TestUnmarshalReadsWhatIsRight: of a text of a later version its number is known.
func TestUnmarshalReadsWhatIsRight(t *testing.T) {
	var v everyKind
	assert.Len(t, wire.Unmarshal([]byte(`{"new":1,"count":7,"name":2}`), wire.Limits{}, &v), 2)
	assert.Equal(t, 7, v.Count)
	assert.Empty(t, v.hidden)
}

func TestUnmarshalPanicsOfTypes(t *testing.T) {
	assert.Panics(t, func() { wire.Unmarshal([]byte(`1`), wire.Limits{}, new(any)) })
	x := reflect.StructTag(`json:"x"`)
	twice := reflect.StructOf([]reflect.StructField{{Name: "A", Type: reflect.TypeFor[int](), Tag: x}, {Name: "B", Type: reflect.TypeFor[int](), Tag: x}})
	assert.Panics(t, func() { wire.Unmarshal([]byte(`{}`), wire.Limits{}, reflect.New(twice).Interface()) })
}
