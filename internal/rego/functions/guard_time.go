package functions

import (
	"errors"
	"fmt"
	"math"
	"path"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"
)

// A decision is the same on every host. Two things of OPA's functions of time ask the host: the zone Local, and an
// abbreviation of a zone in a text, which Go looks up in the zone of the host.

// guardZone refuses the zone of the host in operands of the form [ns, zone].
func guardZone(args []*ast.Term) error {
	for _, t := range args {
		list, ok := t.Value.(*ast.Array)
		if !ok || list.Len() < 2 {
			continue
		}
		if zone, ok := list.Elem(1).Value.(ast.String); ok && ofHost(string(zone)) {
			return fmt.Errorf("the time zone %s is another one on each host", string(zone))
		}
	}
	return nil
}

// ofHost reports whether the name of a time zone stands for the zone of the host: databases have it as the file
// localtime.
func ofHost(zone string) bool {
	return strings.EqualFold(zone, "local") || strings.EqualFold(path.Base(strings.ReplaceAll(zone, `\`, "/")), "localtime")
}

// layouts are the layouts that policies may call by a name of Go.
var layouts = map[string]string{
	"ANSIC": time.ANSIC, "UnixDate": time.UnixDate, "RubyDate": time.RubyDate, "RFC822": time.RFC822, "RFC822Z": time.RFC822Z,
	"RFC850": time.RFC850, "RFC1123": time.RFC1123, "RFC1123Z": time.RFC1123Z, "RFC3339": time.RFC3339, "RFC3339Nano": time.RFC3339Nano,
}

// parseTime is time.parse_ns without the zone of the host: a text with the abbreviation of a zone other than UTC and
// GMT does not say which instant it means, and is refused.
func parseTime(bctx topdown.BuiltinContext, args []*ast.Term, iter func(*ast.Term) error) error {
	layout, isLayout := args[0].Value.(ast.String)
	value, isText := args[1].Value.(ast.String)
	if !isLayout || !isText {
		return topdown.GetBuiltin("time.parse_ns")(bctx, args, iter)
	}
	form := string(layout)
	if named, ok := layouts[form]; ok {
		form = named
	}
	at, err := time.ParseInLocation(form, string(value), time.UTC)
	if err != nil {
		return refusedCall("time.parse_ns", bctx, err)
	}
	numeric := strings.Contains(form, "-07") || strings.Contains(form, "Z07")
	if zone, _ := at.Zone(); strings.Contains(form, "MST") && !numeric && zone != "UTC" && !strings.HasPrefix(zone, "GMT") {
		return refusedCall("time.parse_ns", bctx, fmt.Errorf("the zone %s has another offset on each host: write the offset as a number", zone))
	}
	if at.Before(time.Unix(0, math.MinInt64)) || at.After(time.Unix(0, math.MaxInt64)) {
		return refusedCall("time.parse_ns", bctx, errors.New("time outside of valid range"))
	}
	return iter(ast.NewTerm(ast.Number(fmt.Sprint(at.UnixNano()))))
}
